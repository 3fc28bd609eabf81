// An undocumented property of Elysia that plantstore relies on.
import { expect, test } from 'bun:test'
import { resolve } from 'node:path'
import type { AnyElysia } from 'elysia'
import { isAsync } from 'elysia/compose'
import { temporaryFolder } from '../harness/folder'

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
    const exports = ['src/http/app.ts', 'test/harness/service.ts'].map(
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
