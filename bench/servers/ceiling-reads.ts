// The ceiling of reads on Bun: answers a constant, one plant or a page.
const headers = new Headers({ 'Content-Type': 'application/json' })
const plant = JSON.stringify({ name: 'Monstera deliciosa', tag: 'aroid' })

function page(limit: number): string {
  const plants = Array.from({ length: limit }, (_, n) => ({
    id: 1_000_000_000 + n,
    name: 'Monstera deliciosa',
    tag: 'aroid',
  }))
  return JSON.stringify({ plants, next: 1_000_000_000 + limit })
}
const pages = new Map([100, 1000].map((limit) => [String(limit), page(limit)]))

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(process.argv[2]),
  routes: {
    '/plants/:id': { GET: () => new Response(plant, { headers }) },
    '/pages/:limit/:after': {
      GET: (request) => new Response(pages.get(request.params.limit), { headers }),
    },
  },
  fetch: () => new Response(null, { status: 404 }),
})
