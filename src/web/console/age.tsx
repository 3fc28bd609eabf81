import type { Console } from './console.ts'

const OLD_MS = 60_000

/** True if the table follows what others do; else, how old it is if it is older than a minute. */
export function Age({ console: all }: { readonly console: Console }) {
  if (all.list.isLive.value) return <span>Updates live</span>
  // The metrics are the clock: they come every few seconds.
  const now = all.monitor.latest.value?.at ?? 0
  const age = now - all.list.readAt.value
  if (age < OLD_MS || !all.session.isReachable.value) return null
  const minutes = Math.floor(age / OLD_MS)
  return (
    <span>
      {minutes === 1 ? 'a minute' : `${minutes.toLocaleString()} minutes`} old{' '}
      <button type="button" class="quiet inline" onClick={all.list.refresh}>
        Reload
      </button>
    </span>
  )
}
