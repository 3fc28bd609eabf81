// The console and the API reference: files bundled and compressed by the build, and read on request.

import { RequestError } from '../../request-errors'
import type { PageFile } from '../deps'
import type { App } from '../exchange'
import { choose } from '../responses/accept'
import type { RouteDeps } from '../route-deps'

const CODINGS = ['br', 'gzip', 'identity'] as const
type Coding = (typeof CODINGS)[number]

/**
 * The content security policy (CSP, level 3): a page has its own scripts, styles and pictures, and requests to its own
 * origin. The console starts the thread for workbooks, by the one policy of trusted types that has its address; the
 * thread detects encodings by WebAssembly, which no page may compile.
 */
function policyOf({ page, name }: PageFile): string {
  const startsThread = page === 'console' && name === 'index.html'
  const isThread = page === 'console' && name === 'workbook-worker.js'
  return [
    "default-src 'none'",
    `script-src 'self'${isThread ? " 'wasm-unsafe-eval'" : ''}`,
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    `worker-src ${startsThread ? "'self'" : "'none'"}`,
    `trusted-types ${startsThread ? 'workbook' : "'none'"}`,
  ].join('; ')
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

// Near-miss URLs, whose relative links would break. Relative, so that they work behind a proxy with a path prefix.
const REDIRECTS = {
  '/console': './',
  '/console/': '../',
  '/console/index.html': '../',
  '/docs/': '../docs',
  '/docs/index.html': '../docs',
}

function redirect({ url }: Request, path: string): Response {
  // Of the query alone: `new URL` throws for an invalid Host.
  const [query = ''] = /\?.*/s.exec(url) ?? []
  const location = path + new URL(query, 'http://localhost').search
  return new Response(null, { status: 308, headers: { location, 'cache-control': 'no-cache' } })
}

/**
 * The console at `/` and the API reference at `/docs`, each with its files in a folder of its name; none if they are
 * disabled.
 */
export const pages =
  ({ loadPages: load }: RouteDeps) =>
  (app: App) => {
    if (load === null) return app
    // Each form of a file is cached: responses share the bytes of a blob, so an unread one needs no memory.
    const blobs = new Map<string, Blob>()

    const serve = async (request: Request, page: string, name: string): Promise<Response> => {
      const file = (await load()).find((each) => each.page === page && each.name === name)
      if (!file) throw new RequestError('no such path')
      const coding = choose(request.headers.get('accept-encoding'), CODINGS) ?? 'identity'
      const suffix = coding === 'identity' ? '' : `-${coding}`
      const etag = `"${file.hash}${suffix}"`
      const headers = new Headers({
        ...PAGE_HEADERS,
        'content-security-policy': policyOf(file),
        etag,
      })
      // Weak tags, which compressing proxies send, compare like strong ones.
      const condition = request.headers.get('if-none-match') ?? ''
      if (condition === '*' || condition.includes(etag))
        return new Response(null, { status: 304, headers })
      headers.set('content-type', file.type)
      if (coding !== 'identity') headers.set('content-encoding', coding)
      const key = `${coding} ${file.gzip}`
      const blob = blobs.get(key) ?? (await readPage(file, coding))
      blobs.set(key, blob)
      return new Response(blob, { headers })
    }

    for (const [path, location] of Object.entries(REDIRECTS))
      app.get(path, ({ request }) => redirect(request, location))
    return app
      .get('/', ({ request }) => serve(request, 'console', 'index.html'))
      .get('/console/:file', ({ request, params }) => serve(request, 'console', params.file))
      .get('/docs', ({ request }) => serve(request, 'docs', 'index.html'))
      .get('/docs/:file', ({ request, params }) => serve(request, 'docs', params.file))
  }
