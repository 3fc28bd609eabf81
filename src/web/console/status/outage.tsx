import type { Monitor } from './monitor.ts'

/** Describes an outage, its beginning and a fix. */
export function Outage({ monitor }: { readonly monitor: Monitor }) {
  const health = monitor.health.value
  if (health.state !== 'failing' && health.state !== 'silent') return null
  const { since } = health
  const isFailing = health.state === 'failing'
  return (
    <p class="outage" role="alert">
      <strong>{isFailing ? 'Cannot write' : 'No response, retrying…'}</strong>{' '}
      <span>
        {since === null ? null : `since ${new Date(since).toLocaleTimeString()}. `}
        {isFailing
          ? `The daemon says: ${health.message}. Writes are refused until that is over.`
          : 'What is shown may be out of date. Check that plantstore runs and can be reached; this page goes on by itself.'}
      </span>
    </p>
  )
}
