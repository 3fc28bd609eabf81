// What clients have not read yet of their answers. Bun keeps it, beyond the buffers of the kernel.

import { ApiError } from '../errors'
import { charactersOf, type NewPlant } from '../plant/plant'
import { type Body, encode, jsonHeaders } from './answer'

// A shorter answer is not counted: there is one per connection (`test/slow/faults/run.ts --only memory-unread-short`).
const SHORT = 4 * 1024
// The most that all longer answers may take together, but for the last. Its last quarter is kept for pages of 1000 ordinary
// plants and the metrics: others do not end while a few clients read nothing.
const UNSENT_BYTES = 32 * 1024 * 1024
const ORDINARY = 64 * 1024
const UNSENT_BEFORE_LONG = 24 * 1024 * 1024
/** A client that takes nothing of what it is sent for this long is disconnected; Bun looks every 4 seconds. */
export const UNREAD_SECONDS = 20
// Of changes of plants whose length is not known, this many may wait together; further plants are read first.
const UNMEASURED_CHANGES = 8
// What such a change takes until it is answered, times the length of the plant (`memory-unread-patches`).
const COPIES = 4
const TOO_MANY = 'busy: too many long answers wait for their clients; retry shortly'

export type Unsent = ReturnType<typeof createUnsent>

/** `timeOut` closes the connection of a request once it makes no progress for so many seconds. */
export function createUnsent(timeOut: (request: Request, seconds: number) => void) {
  let unsent = 0
  let changes = 0

  /** Counts bytes as unsent until the function that it returns is called. */
  function count(bytes: number): () => void {
    let counted = bytes
    unsent += counted
    return () => {
      unsent -= counted
      counted = 0
    }
  }

  function hasRoom(characters: number): boolean {
    if (characters <= SHORT) return true
    return unsent < (characters > ORDINARY ? UNSENT_BEFORE_LONG : UNSENT_BYTES)
  }

  function expect(plant: NewPlant): void {
    if (!hasRoom(charactersOf(plant))) throw new ApiError(50301, TOO_MANY)
  }

  // Only a direct stream that ends before it is sent has a Content-Length, and a promise (of `end`) that resolves when the
  // kernel has all of it, or the client has gone.
  function streamOf(request: Request, body: Body): ReadableStream {
    const length = Buffer.byteLength(body)
    const settle = count(length)
    let rest = body
    return new ReadableStream(
      {
        type: 'direct',
        async pull(controller) {
          controller.write(rest)
          rest = ''
          const sent: unknown = controller.end()
          if (sent instanceof Promise) {
            timeOut(request, UNREAD_SECONDS)
            await sent
          }
          settle()
        },
        cancel: settle,
      },
      // Longer than the text, so that nothing is sent before the end.
      { highWaterMark: length + 1 },
    )
  }

  /**
   * 200 with a body, JSON by default. If too much is unsent, a long one is 50301 for a read; a change is made by then, so
   * its connection is closed without an answer.
   */
  function answer(request: Request, body: Body, headers = jsonHeaders): Response {
    if (body.length <= SHORT) return new Response(body, { headers })
    const { method } = request
    if (method === 'HEAD') return new Response(body, { headers })
    if (request.signal.aborted) return new Response(null, { headers })
    if (hasRoom(body.length)) return new Response(streamOf(request, body), { headers })
    if (method === 'GET') throw new ApiError(50301, TOO_MANY)
    timeOut(request, 1)
    return new Response(new ReadableStream({ type: 'direct', pull: () => new Promise(() => {}) }))
  }

  return {
    /** Bytes of long answers that clients have not read. */
    bytes: () => unsent,
    /** Counts bytes that a stream sends, until the function that it returns is called; null: too much is unsent. */
    hold: (bytes: number): (() => void) | null => (hasRoom(bytes) ? count(bytes) : null),
    /** Refuses, with 50301, a change that will be answered with a long plant, if too much is unsent. */
    expect,
    answer,
    /** The same, compressed if that pays and the client accepts it. */
    answerZipped(request: Request, text: string): Response {
      const { body, headers } = encode(request, text)
      return answer(request, body, headers)
    },
    /** Makes a change that is answered with a plant; `read` reads that plant. Refuses it with 50301. */
    async change<T>(read: () => Promise<NewPlant | null>, make: () => Promise<T>): Promise<T> {
      const plant = changes < UNMEASURED_CHANGES ? null : await read()
      if (plant) expect(plant)
      const settle = count(plant ? charactersOf(plant) * COPIES : 0)
      changes++
      try {
        return await make()
      } finally {
        changes--
        settle()
      }
    },
  }
}
