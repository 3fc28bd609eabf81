// An empty Bun server, to compare the start of plantstore with.
Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.env.EMPTY_PORT),
  fetch: () => new Response('{"status":"ok"}'),
})
