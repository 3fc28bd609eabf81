// The ceiling of reads on Bun: answers a constant, one plant or a page.
const headers = new Headers({ 'Content-Type': 'application/json' })
const plant = { id: 1_000_000_000, name: 'Monstera deliciosa', tag: 'aroid' }
const pageOf = (length: number) => JSON.stringify({ plants: Array(length).fill(plant), next: '1' })
const texts = new Map([1, 100, 1000].map((length) => [String(length), pageOf(length)]))
texts.set('1', JSON.stringify(plant))

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.argv[2]),
  routes: {
    '/:length/:id': {
      GET: (request) => new Response(texts.get(request.params.length), { headers }),
    },
  },
  fetch: () => new Response(null, { status: 404 }),
})
