// `bun run peers`: installs and builds the servers that plantstore is compared with, before `bun run bench`.
import { buildAxumSqlite } from '../lib/axum-sqlite.ts'
import { readFlags } from '../lib/flags.ts'
import { buildPocketbase } from '../lib/pocketbase.ts'
import { installPackages, setUp } from '../lib/setup.ts'

readFlags(
  'Installs and builds the servers that plantstore is compared with. What cannot be built is left out.',
  {},
)
await setUp()
await installPackages()
await buildAxumSqlite()
await buildPocketbase()
