// The least an executable with a Bun server in it can be, to set the start of plantstore beside.
Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.env.EMPTY_PORT),
  fetch: () => new Response('{"status":"ok"}'),
})
