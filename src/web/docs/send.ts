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

/** Rejects where no answer came, or where `signal` ended it. `token` may be empty. */
export async function send(request: Request, token: string, signal: AbortSignal): Promise<Answer> {
  const headers = new Headers(request.headers.map(([name, value]) => [name, value]))
  if (token !== '') headers.set('Authorization', `Bearer ${token}`)
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
