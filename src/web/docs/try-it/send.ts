// Sends a request, and keeps the answer exactly as received.
import type { Request } from './request'

export type TryItResponse = {
  readonly status: number
  readonly statusText: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly type: string
  readonly body: string
  readonly milliseconds: number
}

/** The error of a request that was not sent, because a header has an invalid character. */
export class HeaderError extends Error {}

function put(headers: Headers, name: string, value: string, field: string): void {
  try {
    headers.set(name, value)
  } catch (cause) {
    throw new HeaderError(`${field} has a character that is not allowed in a header.`, { cause })
  }
}

/**
 * Rejects if there is no answer or `signal` aborts it; with a {@link HeaderError} if nothing was sent. `token` may be
 * empty.
 */
export async function send(
  request: Request,
  token: string,
  signal: AbortSignal,
): Promise<TryItResponse> {
  const headers = new Headers()
  for (const [name, value] of request.headers) put(headers, name, value, name)
  if (token !== '') put(headers, 'Authorization', `Bearer ${token}`, 'The token')
  const { method, url, body } = request
  const startedAt = performance.now()
  const answer = await fetch(url, {
    method,
    headers,
    body,
    signal,
    cache: 'no-store',
    credentials: 'omit',
  })
  const text = await answer.text()
  return {
    status: answer.status,
    statusText: answer.statusText,
    headers: [...answer.headers],
    type: answer.headers.get('content-type') ?? '',
    body: text,
    milliseconds: Math.round(performance.now() - startedAt),
  }
}
