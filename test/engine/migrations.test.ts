// The steps of the schema: one numbered file each, none left out.
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SCHEMA_VERSION as ofPostgres } from '../../src/engine/postgres/schema/migrations'
import { root } from '../harness/daemon'

test.each([['postgres', 'schema', ofPostgres]])(
  'the migrations of %s are numbered files, used in their order',
  (engine, room, version) => {
    const folder = join(root, 'src/engine', engine, room)
    const names = readdirSync(join(folder, 'migrations')).sort()
    const source = readFileSync(join(folder, 'migrations.ts'), 'utf8')
    const imports = [...source.matchAll(/import (\w+) from '\.\/migrations\/(.+)' with/g)]
    const [, used = ''] = /const MIGRATIONS = \[([^\]]+)\]/.exec(source) ?? []

    expect(names.map((name) => Number(name.slice(0, 4)))).toEqual(
      names.map((_, index) => index + 1),
    )
    expect(imports.map(([, , name]) => name)).toEqual(names)
    expect(imports.map(([, name = '']) => name)).toEqual(
      used
        .split(',')
        .map((name) => name.trim())
        .filter(Boolean),
    )
    expect(version).toBe(names.length)
  },
)
