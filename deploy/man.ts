// The manual page, in the macros of man(7): `bun deploy/man.ts > plantstore.1`.

import packageJson from '../package.json'
import type { Command } from '../src/cli/command'
import { describeOption, isFlag, OPTIONS, toFlag, variableOf } from '../src/config/options'
import { loadCommands } from '../src/main'

// A line that begins with a dot or a quote would be a request; a plain hyphen could not be pasted into a shell.
const escapeText = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1')

const paragraphs = (text: string): string =>
  text
    .split(/\n\n+/)
    .map((paragraph) =>
      /^\s/.test(paragraph)
        ? `.EX\n${escapeText(paragraph)}\n.EE`
        : escapeText(paragraph.replaceAll('\n', ' ')),
    )
    .join('\n.PP\n')

const item = (head: string, text: string): string =>
  `.TP\n.B ${escapeText(head)}\n${escapeText(text)}`

const optionsOf = ({ options: names }: Command): string[] =>
  names.map((name) => {
    const { head, help, notes } = describeOption(name)
    return item(head, notes ? `${help} (${notes})` : help)
  })

const sectionOf = (command: Command): string =>
  [
    `.SS ${escapeText([command.name, command.usage].filter(Boolean).join(' '))}`,
    escapeText(command.summary),
    '.PP',
    paragraphs(command.help),
    ...optionsOf(command),
  ].join('\n')

function environment(commands: readonly Command[]): string {
  const names = new Set(commands.flatMap((command) => command.options))
  return [...names]
    .flatMap((name) => {
      const { help, default: preset } = OPTIONS[name]
      const env = variableOf(name)
      const meaning = preset === true ? `false: as ${toFlag(name)}` : `sets ${toFlag(name)}`
      return env === null ? [] : [item(env, isFlag(name) ? meaning : help)]
    })
    .join('\n')
}

const EXIT_CODES = {
  0: 'done',
  1: 'failed; the message says why',
  2: 'wrong usage: an unknown command or option, or a bad value',
  74: 'the disk fails or is full, or the database is damaged',
  130: 'ended by SIGINT (Ctrl-C)',
  143: 'ended by SIGTERM',
}

const FILES = {
  'plants.db, plants.db-wal, plants.db-shm': 'the database in the working folder, with its log',
  '/var/lib/plantstore/plants.db': 'the database of the service',
  '/etc/plantstore/plantstore.env': 'the settings of the service: variables, one a line',
  '/usr/share/doc/plantstore': 'the documentation, the SBOM and the licenses',
}

const EXAMPLES = `  plantstore serve --database plants.db
  plantstore token create laptop --database plants.db
  plantstore import plants.csv --database plants.db
  plantstore backup plants-2026.db --database plants.db`

const list = (items: Readonly<Record<string, string>>): string =>
  Object.entries(items)
    .map(([head, text]) => item(head, text))
    .join('\n')

const pageOf = (commands: readonly Command[], date: string): string =>
  `.TH PLANTSTORE 1 "${date}" "plantstore ${packageJson.version}" "User Commands"
.SH NAME
plantstore \\- a durable, authenticated HTTP store of plants
.SH SYNOPSIS
.B plantstore
.I COMMAND
[\\fIOPTIONS\\fR]
.SH COMMANDS
A flag wins over its environment variable.
${commands.map(sectionOf).join('\n')}
.SH EXIT STATUS
${list(EXIT_CODES)}
.SH ENVIRONMENT
An empty variable counts as unset.
${environment(commands)}
.SH FILES
${list(FILES)}
.SH EXAMPLES
${paragraphs(EXAMPLES)}
.SH SEE ALSO
.BR curl (1),
.BR sqlite3 (1),
.BR systemctl (1)
`

/** The manual page of every command and option. `epoch`: its date, in seconds since 1970. */
export const manualPage = async (epoch: number): Promise<string> =>
  pageOf(await loadCommands(), new Date(epoch * 1000).toISOString().slice(0, 10))

if (import.meta.main) await Bun.write(Bun.stdout, await manualPage(Date.now() / 1000))
