// `bun run peers`: installs and builds the servers that plantstore is compared with, before `bun run bench`.
import { readFlags } from '../lib/flags.ts'
import { buildPeers } from '../lib/peers.ts'
import { setUp } from '../lib/setup.ts'

readFlags('Installs and builds the servers that plantstore is compared with.', {})
await setUp()
await buildPeers()
