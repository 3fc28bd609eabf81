// Limits the total size of unread answers. Bun keeps them in memory, beyond the buffers of the kernel.

import { RequestError } from '../../errors'
import { charactersOf, type Plant } from '../../plant/plant'
import { createByteBudget, type Holding } from '../byte-budget'
import { type Body, encode, JSON_HEADERS } from './answer'

// A shorter answer is not counted: there is one per connection (`test/slow/faults/run.ts --only memory-unread-short`).
const SHORT = 4 * 1024
// The last quarter is for pages of 1000 ordinary plants and the metrics: they are answered even if a few clients read
// nothing.
const ANSWER_BYTES = 32 * 1024 * 1024
const ANSWER_BYTES_BEFORE_LONG = 24 * 1024 * 1024
const LONG = 64 * 1024
/** A client that reads nothing for this long is disconnected; Bun checks every 4 seconds. */
export const UNREAD_SECONDS = 20
// Maximum number of simultaneous changes of plants of unknown length. Beyond it, the plants are read first.
const UNMEASURED_CHANGES = 8
// Memory of such a change until it is answered, as a multiple of the plant's length (`memory-unread-patches`).
const COPIES = 4
const TOO_MANY = 'busy: too many large responses are still unread; retry shortly'

export type AnswerBudget = {
  /** Bytes of long answers that are unread or in the making. */
  bytesHeld(): number
  /** Reserves bytes for a stream; null if there is no room. */
  hold(bytes: number): Holding | null
  /**
   * A success with a body, by default 200 with JSON. A long one is refused with `busy` if there is no room, unless it
   * answers a change.
   */
  answer(request: Request, body: Body, headers?: Headers, status?: number): Response
  /** Like `answer`, compressed if that pays and the client accepts it. */
  answerZipped(request: Request, text: string): Response
  /** Makes a change that is answered with a plant. `busy`, and no change, if there is no room for the answer. */
  change<T>(plant: Plant, make: () => Promise<T>): Promise<T>
  /** Like `change`, for a plant that only the store knows: `read` reads it. */
  changeStored<T>(read: () => Promise<Plant | null>, make: () => Promise<T>): Promise<T>
}

// Only a direct stream that ends before it is sent has a Content-Length, and a promise (of `end`) that resolves when
// the kernel has all of it, or the client has gone.
function streamAtOnce(
  body: Body,
  length: number,
  { release }: Holding,
  onUnread: () => void,
): ReadableStream {
  let rest = body
  return new ReadableStream(
    {
      type: 'direct',
      async pull(controller) {
        controller.write(rest)
        rest = ''
        const ending: unknown = controller.end()
        if (ending instanceof Promise) {
          onUnread()
          await ending
        }
        release()
      },
      cancel: release,
    },
    // Longer than the text, so that nothing is sent before the end.
    { highWaterMark: length + 1 },
  )
}

/** `timeOut` closes the connection of a request once it makes no progress for so many seconds. */
export function createAnswerBudget(
  timeOut: (request: Request, seconds: number) => void,
): AnswerBudget {
  const budget = createByteBudget(ANSWER_BYTES)
  let unmeasuredChanges = 0

  function hasRoom(bytes: number): boolean {
    if (bytes <= SHORT) return true
    return budget.bytesHeld() < (bytes > LONG ? ANSWER_BYTES_BEFORE_LONG : budget.limit)
  }

  function holdWhile<T>(bytes: number, make: () => Promise<T>): Promise<T> {
    const holding = budget.hold(bytes)
    return make().finally(holding.release)
  }

  function streamOf(request: Request, body: Body): ReadableStream {
    const length = Buffer.byteLength(body)
    const onUnread = () => timeOut(request, UNREAD_SECONDS)
    return streamAtOnce(body, length, budget.hold(length), onUnread)
  }

  function answer(request: Request, body: Body, headers = JSON_HEADERS, status = 200): Response {
    if (body.length <= SHORT) return new Response(body, { headers, status })
    const { method } = request
    if (method === 'HEAD') return new Response(body, { headers, status })
    if (request.signal.aborted) return new Response(null, { headers, status })
    // A change is already made, and had room when it began.
    if (method === 'GET' && !hasRoom(body.length)) throw new RequestError('busy', TOO_MANY)
    return new Response(streamOf(request, body), { headers, status })
  }

  function change<T>(plant: Plant, make: () => Promise<T>): Promise<T> {
    const characters = charactersOf(plant)
    if (characters <= SHORT) return make()
    if (!hasRoom(characters)) throw new RequestError('busy', TOO_MANY)
    return holdWhile(characters, make)
  }

  async function changeStored<T>(
    read: () => Promise<Plant | null>,
    make: () => Promise<T>,
  ): Promise<T> {
    const isMeasured = unmeasuredChanges >= UNMEASURED_CHANGES || !hasRoom(LONG + 1)
    const plant = isMeasured ? await read() : null
    const characters = plant ? charactersOf(plant) : 0
    if (!hasRoom(characters)) throw new RequestError('busy', TOO_MANY)
    if (isMeasured) return holdWhile(characters * COPIES, make)
    unmeasuredChanges++
    return make().finally(() => {
      unmeasuredChanges--
    })
  }

  return {
    bytesHeld: budget.bytesHeld,
    hold: (bytes) => (hasRoom(bytes) ? budget.hold(bytes) : null),
    answer,
    answerZipped(request, text) {
      const { body, headers } = encode(request, text)
      return answer(request, body, headers)
    },
    change,
    changeStored,
  }
}
