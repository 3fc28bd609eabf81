// Says what the recommended rules of Redocly have against the description on standard input: a line each.
import { createConfig, lintFromString } from '@redocly/openapi-core'

const config = await createConfig({ extends: ['recommended'] })
const source = await Bun.stdin.text()
const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config })
for (const { ruleId, message, location } of problems) {
  console.log(`${ruleId}: ${message} (${location[0]?.pointer})`)
}
