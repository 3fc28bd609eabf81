// Waiting for what other processes do.

/** A wait that takes longer fails, and says what it waited for. */
export const DEADLINE_MS = 30_000

const POLL_MS = 5

type Found<T> = Exclude<T, null | undefined | false | 0 | ''>

/** Resolves to the first truthy value that `find` returns or resolves to; rejects, naming `what`, if none comes in time. */
export async function until<T>(
  what: string,
  find: () => T | Promise<T>,
  withinMs = DEADLINE_MS,
): Promise<Found<T>> {
  let isLate = false
  const { promise: late, reject } = Promise.withResolvers<never>()
  const deadline = setTimeout(() => {
    isLate = true
    reject(new Error(`not within ${withinMs / 1000} s: ${what}`))
  }, withinMs)
  const search = async (): Promise<Found<T>> => {
    for (;;) {
      const found = await find()
      if (found || isLate) return found as Found<T>
      await Bun.sleep(POLL_MS)
    }
  }
  try {
    return await Promise.race([search(), late])
  } finally {
    clearTimeout(deadline)
  }
}
