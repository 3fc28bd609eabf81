// Waiting for what other processes do.

/** A wait that takes longer fails, and says what it waited for: before a test ends by its own timeout. */
export const DEADLINE_MS = 45_000

const POLL_MS = 5

type Found<T> = Exclude<T, null | undefined | false | 0 | ''>

/** Settles as `promise` does; rejects, naming `what`, if that takes too long. */
export async function inTime<T>(
  what: () => string,
  promise: Promise<T>,
  withinMs = DEADLINE_MS,
): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const fail = () => reject(new Error(`not within ${withinMs / 1000} s: ${what()}`))
  const deadline = setTimeout(fail, withinMs)
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(deadline)
  }
}

/**
 * Resolves to the first truthy value that `find` returns or resolves to; rejects, naming `what`, if none comes in time.
 */
export async function until<T>(
  what: string,
  find: () => T | Promise<T>,
  withinMs = DEADLINE_MS,
): Promise<Found<T>> {
  let isOver = false
  const search = async (): Promise<Found<T>> => {
    for (;;) {
      const found = await find()
      if (found || isOver) return found as Found<T>
      await Bun.sleep(POLL_MS)
    }
  }
  try {
    return await inTime(() => what, search(), withinMs)
  } finally {
    isOver = true
  }
}
