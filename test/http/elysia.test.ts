// Undocumented properties of Elysia that plantstore relies on.
import { expect, test } from 'bun:test'
import { resolve } from 'node:path'
import { bearer } from '@elysiajs/bearer'
import { type AnyElysia, Elysia, t } from 'elysia'
import { isAsync } from 'elysia/compose'
import { temporaryFolder } from '../harness/folder'

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

type Hooks = { readonly [name: string]: unknown }

/** The names of the hooks of an app that Elysia awaits, and those that are asynchronous. */
function awaitedHooks(app: Pick<AnyElysia, 'routes'>) {
  const hooks = new Set(
    app.routes.flatMap(({ hooks }) =>
      ['transform', 'beforeHandle', 'afterHandle', 'mapResponse'].flatMap((kind) =>
        [(hooks as Hooks)[kind] ?? []].flat(),
      ),
    ),
  )
  const functions = [...hooks].map((hook) => (typeof hook === 'function' ? hook : Object(hook).fn))
  const namesOf = (picked: readonly unknown[]) => picked.map((hook) => Object(hook).name).sort()
  return {
    all: namesOf(functions),
    awaited: namesOf(functions.filter((hook) => isAsync(hook))),
    asynchronous: namesOf(functions.filter((hook) => /^async\b/.test(String(hook)))),
  }
}

// Elysia awaits what matches a pattern in a hook's source, and so in the executable's, which is minified: a hook that
// is awaited by accident costs each request a turn, and one that is not awaited by accident checks nothing.
test.each([false, true])(
  'Elysia awaits each asynchronous hook and no other; minified: %j',
  async (isMinified) => {
    using folder = temporaryFolder()
    const entry = folder.file('entry.ts')
    const exports = ['src/http/app.ts', 'tools/service.ts'].map(
      (path) => `export * from ${JSON.stringify(resolve(path))}`,
    )
    await Bun.write(entry, exports.join('\n'))
    const minify = isMinified && { whitespace: true, syntax: true }
    await Bun.build({ entrypoints: [entry], outdir: folder.path, target: 'bun', minify })
    const { createApp, depsOf } = await import(folder.file('entry.js'))
    const { all, awaited, asynchronous } = awaitedHooks(
      createApp(
        depsOf({ stats: () => ({}) }, { logRequests: true, rateLimit: 1, loadPages: () => [] }),
      ),
    )

    expect(all).toEqual(expect.arrayContaining(['begin', 'requireScheme', 'deriveBearer', 'end']))
    // The plugin's hook is awaited, although it is not asynchronous.
    expect(awaited.filter((name) => name !== 'deriveBearer')).toEqual(asynchronous)
  },
)
