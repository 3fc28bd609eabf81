// The console and the API reference: files bundled and compressed by the build, and read on request.

import { RequestError } from '../../errors'
import { isAmong } from '../../plant/entity-tag'
import { chooseCoding } from '../answers/accept-encoding'
import { readIfNoneMatch } from '../conditions/precondition'
import type { App } from '../request-context'

/** A file of a page: the path of each compressed form, and the hash of its content. */
export type PageFile = {
  readonly page: string
  readonly name: string
  readonly type: string
  readonly hash: string
  readonly brotli: string
  readonly gzip: string
}

const CODINGS = ['br', 'gzip'] as const
type Coding = (typeof CODINGS)[number] | 'identity'

/**
 * The content security policy (CSP, level 3): a page has its own scripts, styles and pictures, and requests to its own
 * origin.
 */
const CONTENT_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
]
/** Starts no threads, and makes no policy of trusted types. */
const PAGE_POLICY = [...CONTENT_POLICY, "worker-src 'none'", "trusted-types 'none'"].join('; ')
/** Starts the thread for workbooks, by the one policy that has its address. */
const THREADED_PAGE_POLICY = [
  ...CONTENT_POLICY,
  "worker-src 'self'",
  'trusted-types workbook',
].join('; ')

/** The thread detects encodings by WebAssembly; no page may compile any. */
const THREAD_POLICY = PAGE_POLICY.replace("script-src 'self'", "$& 'wasm-unsafe-eval'")

function policyOf({ page, name }: PageFile): string {
  if (page !== 'console') return PAGE_POLICY
  if (name === 'workbook-worker.js') return THREAD_POLICY
  return name === 'index.html' ? THREADED_PAGE_POLICY : PAGE_POLICY
}

const PAGE_HEADERS = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  // Revalidated each time, with a 304: a page and its files always belong to one build.
  'cache-control': 'no-cache',
  vary: 'accept-encoding',
}

async function readPage({ brotli, gzip }: PageFile, coding: Coding): Promise<Blob> {
  const bytes = await Bun.file(coding === 'br' ? brotli : gzip).bytes()
  return new Blob([coding === 'identity' ? Bun.gunzipSync(bytes) : bytes])
}

async function answerFile(
  file: PageFile,
  { headers: requestHeaders }: Request,
  readOnce: typeof readPage,
) {
  const coding = chooseCoding(requestHeaders.get('accept-encoding'), CODINGS)
  const tag = `"${file.hash}${coding === 'identity' ? '' : `-${coding}`}"`
  const headers = new Headers({
    ...PAGE_HEADERS,
    'content-security-policy': policyOf(file),
    etag: tag,
  })
  const condition = requestHeaders.get('if-none-match')
  if (condition !== null && isAmong(readIfNoneMatch(condition), tag)) {
    return new Response(null, { status: 304, headers })
  }
  headers.set('content-type', file.type)
  if (coding !== 'identity') headers.set('content-encoding', coding)
  return new Response(await readOnce(file, coding), { headers })
}

// Redirects near-miss URLs, whose relative links would break. Relative, so that it works behind a proxy with a path
// prefix.
function redirect({ url }: Request, path: string): Response {
  // Of the query alone: `new URL` throws for an invalid Host.
  const [query = ''] = /\?.*/s.exec(url) ?? []
  const location = path + new URL(query, 'http://localhost').search
  return new Response(null, { status: 308, headers: { location, 'cache-control': 'no-cache' } })
}

/**
 * The console at `/` and the API reference at `/docs`, each with its files in a folder of its name; `load` loads all.
 */
export function pages(load: () => Promise<readonly PageFile[]>) {
  // Each form of a file is cached: answers share the bytes of a blob, so an unread one needs no memory.
  const blobs = new Map<string, Blob>()

  async function readOnce(file: PageFile, coding: Coding): Promise<Blob> {
    const key = `${coding} ${file.gzip}`
    const blob = blobs.get(key) ?? (await readPage(file, coding))
    blobs.set(key, blob)
    return blob
  }

  async function answer(request: Request, page: string, name: string): Promise<Response> {
    const files = await load()
    const file = files.find((file) => file.page === page && file.name === name)
    if (!file) throw new RequestError('no such path')
    return answerFile(file, request, readOnce)
  }

  return (app: App) =>
    app
      .get('/', ({ request }) => answer(request, 'console', 'index.html'))
      .get('/console', ({ request }) => redirect(request, './'))
      .get('/console/', ({ request }) => redirect(request, '../'))
      .get('/console/index.html', ({ request }) => redirect(request, '../'))
      .get('/console/:file', ({ request, params }) => answer(request, 'console', params.file))
      .get('/docs', ({ request }) => answer(request, 'docs', 'index.html'))
      .get('/docs/', ({ request }) => redirect(request, '../docs'))
      .get('/docs/index.html', ({ request }) => redirect(request, '../docs'))
      .get('/docs/:file', ({ request, params }) => answer(request, 'docs', params.file))
}
