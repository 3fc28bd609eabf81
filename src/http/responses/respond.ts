// Sends responses, of which long ones are held in the budget until their clients have read them.

import { type ByteBudget, type Holding, SHORT_BYTES } from '../byte-budget'
import { addNextLink, type Body, encode, JSON_HEADERS } from './forms'

/** A client that reads nothing for this long is disconnected; Bun checks every 4 seconds. */
export const UNREAD_SECONDS = 20

// Only a direct stream that ends before it is sent has a Content-Length, and a promise (of `end`) that resolves when
// the kernel has all of it, or the client has gone.
function streamAtOnce(body: Body, length: number, holding: Holding, onUnread: () => void) {
  const release = () => holding[Symbol.dispose]()
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
export function createResponder(
  budget: ByteBudget,
  timeOut: (request: Request, seconds: number) => void,
) {
  /**
   * A success with a body, by default 200 with JSON. A long one is refused with `busy` if there is no room, unless it
   * acknowledges a change.
   */
  function respond(request: Request, body: Body, headers = JSON_HEADERS, status = 200): Response {
    const { method } = request
    if (body.length <= SHORT_BYTES || method === 'HEAD')
      return new Response(body, { headers, status })
    // Bun makes the signal when it is first read.
    if (request.signal.aborted) return new Response(null, { headers, status })
    const length = Buffer.byteLength(body)
    const holding = method === 'GET' ? budget.reserve(length) : budget.hold(length)
    const stream = streamAtOnce(body, length, holding, () => timeOut(request, UNREAD_SECONDS))
    return new Response(stream, { headers, status })
  }

  return {
    respond,
    /** Like `respond`, compressed if that pays and the client accepts it. `next`: the `after` of the next page. */
    respondZipped(request: Request, text: string, next: string | null = null): Response {
      const response = respond(request, ...encode(request, text))
      if (next !== null) addNextLink(response, request, next)
      return response
    },
  }
}
