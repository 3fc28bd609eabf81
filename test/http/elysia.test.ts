// What plantstore relies on Elysia for, and its documentation does not say.
import { expect, test } from 'bun:test'
import { Elysia, t } from 'elysia'

test("with parse: 'none', neither reads a body nor validates what a transform has made of it", async () => {
  const app = new Elysia().post('/', ({ body }) => String(body), {
    body: t.Object({ name: t.String() }),
    parse: 'none',
    transform: async (context: { request: Request; body: unknown }) => {
      context.body = `read here: ${await context.request.text()}`
    },
  })
  const request = new Request('http://localhost/', { method: 'POST', body: 'no JSON' })
  const answer = await app.handle(request)

  expect({ status: answer.status, text: await answer.text() }).toEqual({
    status: 200,
    text: 'read here: no JSON',
  })
})
