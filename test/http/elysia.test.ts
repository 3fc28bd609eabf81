// Undocumented properties of Elysia that plantstore relies on.
import { expect, test } from 'bun:test'
import { bearer } from '@elysiajs/bearer'
import { Elysia, t } from 'elysia'

test("with parse: 'none', Elysia neither reads a body nor validates the result of a transform", async () => {
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

test('hooks run in the order of registration, and onError has what a derive before the failed one returned', async () => {
  const app = new Elysia()
    .decorate('token', '' as string | undefined)
    .onError(({ token, error }) => `${token}: ${(error as Error).message}`)
    .use(
      new Elysia({ name: 'authenticate' })
        .onTransform({ as: 'scoped' }, ({ headers }) => {
          headers.authorization = headers.authorization?.replace('bearer', 'Bearer')
        })
        .use(bearer())
        .derive({ as: 'scoped' }, async ({ bearer }) => ({ token: bearer }))
        .onTransform({ as: 'scoped' }, ({ token }) => {
          throw new Error(`${token} is refused`)
        }),
    )
    .get('/', () => 'not reached')

  const headers = { authorization: 'bearer abc' }
  const answer = await app.handle(new Request('http://localhost/', { headers }))

  expect(await answer.text()).toBe('abc: abc is refused')
})

test('the bearer plugin accepts a token without a space before it, and one in the query', async () => {
  const app = new Elysia().use(bearer()).get('/', ({ bearer }) => bearer ?? 'none')
  const tokenOf = async (path: string, authorization = '') =>
    (
      await app.handle(new Request(`http://localhost${path}`, { headers: { authorization } }))
    ).text()

  expect(await tokenOf('/', 'BearerXtok')).toBe('tok')
  expect(await tokenOf('/', 'bearer tok')).toBe('none')
  expect(await tokenOf('/?access_token=tok')).toBe('tok')
})
