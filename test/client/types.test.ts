// The types of the client are those of the description.
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { clientTypes, type Description } from '../../deploy/client-types'
import { parseJson, plantText, toNewPlant } from '../../src/client/json'
import type { NewPlant } from '../../src/client/types'
import { root } from '../harness/daemon'
import { startOwnDaemon } from '../harness/own-daemon'

const { daemon } = await startOwnDaemon()

test('src/client/types.ts is current; if not: bun run client:types', async () => {
  const description: Description = JSON.parse(await (await daemon.fetch('/openapi.json')).text())

  expect(readFileSync(join(root, 'src/client/types.ts'), 'utf8')).toBe(clientTypes(description))
})

test('every field of a plant is written and read', () => {
  const plant: Required<NewPlant> = { id: 1n, name: 'a', tag: 'b' }

  expect(toNewPlant(parseJson(plantText(plant)))).toEqual(plant)
})
