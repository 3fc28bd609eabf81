// A proxy that serves the daemon below a path prefix, like nginx with `location /garden/`.

/** Starts a proxy that serves only paths below the prefix, so that a link to the root fails. */
export function startPrefixProxy(prefix: string, target: string) {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      if (!pathname.startsWith(`${prefix}/`)) return new Response('outside', { status: 404 })
      const { method, headers, body } = request
      const url = `${target}${pathname.slice(prefix.length)}${search}`
      return fetch(url, { method, headers, body, decompress: false })
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    [Symbol.asyncDispose]: () => server.stop(true),
  }
}
