// The types of the client are those of the description.
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { clientTypes, type Description } from '../../deploy/client-types'
import { root } from '../harness/daemon'
import { startOwnDaemon } from '../harness/own-daemon'

const { daemon } = await startOwnDaemon()

test('src/client/types.ts is current; if not: bun run client:types', async () => {
  const description: Description = JSON.parse(await (await daemon.fetch('/openapi.json')).text())

  expect(readFileSync(join(root, 'src/client/types.ts'), 'utf8')).toBe(clientTypes(description))
})
