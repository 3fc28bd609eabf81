import type { PlantList } from '../list/plant-list.ts'

const OLD_MS = 60_000

type AgeProps = {
  readonly list: PlantList
  /** Milliseconds on a monotonic clock. */
  readonly now: number
}

/** "Updates live" if the table follows others; else its age, from a minute on. */
export function Age({ list, now }: AgeProps) {
  if (!list.session.isReachable.value) return null
  if (list.isLive.value) return <span>Updates live</span>
  const age = now - list.readAt.value
  if (age < OLD_MS) return null
  const minutes = Math.floor(age / OLD_MS)
  return <span>{minutes === 1 ? 'A minute' : `${minutes.toLocaleString()} minutes`} old</span>
}
