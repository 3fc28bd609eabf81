// The help of the program and of its commands.

import { describeOption } from '../config/options'
import type { Command } from './command'

/** The help of the program. */
export function helpOfAll(commands: readonly Command[], version: string): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  const list = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`)
  return `plantstore ${version}: a durable, authenticated HTTP store of plants

Usage: plantstore COMMAND [OPTIONS]

Commands:
${list.join('\n')}

Start with "plantstore serve". Every other command except "restore" can run
meanwhile. Run "plantstore help COMMAND" for details.
`
}

// A longer flag has its own line.
const MAX_COLUMN = 24

/** The options of a command, in lines of at most 80 characters. */
function listOptions({ options }: Command): string {
  const helpRow = { head: '-h, --help', help: 'show this help', notes: '' }
  const rows = [...options.map(describeOption), helpRow]
  const widths = rows.map(({ head }) => head.length).filter((width) => width <= MAX_COLUMN)
  const width = Math.max(...widths)
  const line = (first: string, second: string) => `  ${first.padEnd(width)}  ${second}`
  return rows
    .flatMap(({ head, help, notes }) => [
      ...(head.length > width ? [`  ${head}`, line('', help)] : [line(head, help)]),
      ...(notes ? [line('', `(${notes})`)] : []),
    ])
    .join('\n')
}

/** The help of one command. */
export const helpOf = (command: Command): string => {
  const { name, usage, summary, help } = command
  return `plantstore ${name}: ${summary}

Usage: plantstore ${[name, usage].filter(Boolean).join(' ')} [OPTIONS]

${help}

Options (a flag wins over its environment variable):
${listOptions(command)}
`
}
