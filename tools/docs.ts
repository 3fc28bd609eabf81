// Writes what derives from the program, parts of docs/ and a module of the client: `bun run docs`. test/docs.test.ts
// sees that they are current.

import { join } from 'node:path'
import type { Command } from '../src/cli/command'
import {
  DAEMON_OPTIONS,
  describeOption,
  isFlag,
  OPTIONS,
  type OptionName,
  variableOf,
} from '../src/config/options'
import { loadCommands } from '../src/main'
import { OPTIONAL_TEXTS } from '../src/plant/plant'
import { ERRORS } from '../src/request-errors'

const ROOT = join(import.meta.dir, '..')
const DOCS = join(ROOT, 'docs')

const code = (text: string): string => (text === '' ? '' : `\`${text.replaceAll('|', '\\|')}\``)

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`.replace(/ {2,}/g, ' ')

const usersOf = (name: OptionName, commands: readonly Command[]): string[] =>
  commands.filter(({ options }) => options.includes(name)).map((command) => command.name)

const inCell = (text: string): string => text.replaceAll('|', '\\|')

const defaultOf = (name: OptionName): string => {
  const { default: preset } = OPTIONS[name]
  return preset === null || typeof preset === 'boolean' ? '' : code(`${preset}`)
}

/** The options of the daemon, each with its variable. */
const daemonTable = (): string =>
  [
    row(['flag', 'environment', 'default', '']),
    '|---|---|---|---|',
    ...DAEMON_OPTIONS.map((name) => {
      const { head, help } = describeOption(name)
      const cells = [isFlag(name) ? code(head) : '', code(variableOf(name) ?? ''), defaultOf(name)]
      return row([...cells, inCell(help)])
    }),
  ].join('\n')

/** The options of commands alone, few of which have variables. */
const commandsTable = (commands: readonly Command[]): string =>
  [
    row(['flag', '', 'commands']),
    '|---|---|---|',
    ...(Object.keys(OPTIONS) as OptionName[])
      .filter((name) => !DAEMON_OPTIONS.some((other) => other === name))
      .map((name) => {
        const { head, help, notes } = describeOption(name)
        const note = notes ? ` (${notes})` : ''
        return row([code(head), inCell(help) + note, usersOf(name, commands).join(', ')])
      }),
  ].join('\n')

const usageTable = (commands: readonly Command[]): string =>
  [
    row(['command', '']),
    '|---|---|',
    ...commands.map(({ name, usage, summary }) => row([code(`${name} ${usage}`.trim()), summary])),
  ].join('\n')

/** The parts, by page and name. A part stands between its comment and `<!-- end -->`. */
const PARTS: Readonly<
  Record<string, Readonly<Record<string, (commands: readonly Command[]) => string>>>
> = {
  'configuration.md': {
    'options of the daemon': daemonTable,
    'options of commands': commandsTable,
  },
  'commands.md': { commands: usageTable },
}

/** The module of the client that has what the service names: the client imports nothing of the program. */
function contractOfClient(): string {
  const rows = Object.entries(ERRORS).map(([name, { number }]) => {
    const key = /^\w+$/.test(name) ? name : `'${name}'`
    return `  ${key}: ${number},`
  })
  return `// The names of the service. Written by tools/docs.ts.

/** The texts that a plant may have besides its name: \`tag\` is its type. */
export const OPTIONAL_TEXTS = [${OPTIONAL_TEXTS.map((field) => `'${field}'`).join(', ')}] as const

/** The number of each error of the service. */
export const ERRORS = {
${rows.join('\n')}
} as const

/** Every error number that the service documents. */
export type KnownError = (typeof ERRORS)[keyof typeof ERRORS]
`
}

/** The pages with their parts, and a module of the client, as the program has them now; by path. */
export async function currentPages(): Promise<ReadonlyMap<string, string>> {
  const commands = await loadCommands()
  const pages = new Map([[join(ROOT, 'src/client/contract.ts'), contractOfClient()]])
  for (const [page, parts] of Object.entries(PARTS)) {
    let text = await Bun.file(join(DOCS, page)).text()
    for (const [part, write] of Object.entries(parts)) {
      const start = `<!-- written by tools/docs.ts: ${part} -->\n`
      const from = text.indexOf(start)
      const end = text.indexOf('\n<!-- end -->', from)
      if (from < 0 || end < 0) throw new Error(`docs/${page} has no place for ${part}`)
      text = `${text.slice(0, from)}${start}\n${write(commands)}\n${text.slice(end)}`
    }
    pages.set(join(DOCS, page), text)
  }
  return pages
}

if (import.meta.main) for (const [path, text] of await currentPages()) await Bun.write(path, text)
