// The ceiling of creates on Bun: parses the body and echoes it; checks and stores nothing.
const headers = new Headers({ 'Content-Type': 'application/json' })

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.argv[2]),
  routes: {
    '/plants': {
      POST: async (request) => {
        const { name, tag } = JSON.parse(await request.text())
        return new Response(JSON.stringify({ name, tag }), { headers })
      },
    },
  },
  fetch: () => new Response(null, { status: 404 }),
})
