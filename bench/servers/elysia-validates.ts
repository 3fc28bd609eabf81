// Elysia that validates the body and stores nothing.
import { Elysia, t } from 'elysia'

new Elysia()
  .post('/plants', ({ body }) => ({ name: body.name, tag: body.tag }), {
    body: t.Object({ id: t.Integer(), name: t.String(), tag: t.Optional(t.String()) }),
  })
  .listen({ hostname: '127.0.0.1', port: Number(process.argv[2]), reusePort: false })
