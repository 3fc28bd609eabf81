// Sends a request and keeps the answer as the service sent it.
import type { Request } from './request'

export type Answer = {
  readonly status: number
  readonly statusText: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly type: string
  readonly body: string
  readonly milliseconds: number
}

/** A request that was not sent, as no header can have what was typed. */
export class HeaderError extends Error {}

function put(headers: Headers, name: string, value: string, field: string): void {
  try {
    headers.set(name, value)
  } catch (cause) {
    throw new HeaderError(`${field} has a character that no header can have.`, { cause })
  }
}

/**
 * Rejects where no answer came, or where `signal` ended it; with a {@link HeaderError} where nothing was sent. `token`
 * may be empty.
 */
export async function send(request: Request, token: string, signal: AbortSignal): Promise<Answer> {
  const headers = new Headers()
  for (const [name, value] of request.headers) put(headers, name, value, name)
  if (token !== '') put(headers, 'Authorization', `Bearer ${token}`, 'The token')
  const { method, url, body } = request
  const started = performance.now()
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
    milliseconds: Math.round(performance.now() - started),
  }
}
