// The help of the program and of its commands.

import type { Command } from './command'
import { describeOptions } from './config'

/** The help of the program. */
export function helpOfAll(commands: readonly Command[], version: string): string {
  const width = Math.max(...commands.map(({ name }) => name.length))
  const list = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`)
  return `plantstore ${version}: a durable, authenticated HTTP store of plants

Usage: plantstore COMMAND [OPTIONS]

Commands:
${list.join('\n')}

Start with "plantstore serve". Run "plantstore help COMMAND" for details.
`
}

/** Wraps the paragraphs of a text at 80 characters; lines that are indented stay as they are. */
function wrap(text: string): string {
  return text.replace(/^\S.*(\n\S.*)*$/gm, (paragraph) =>
    paragraph
      .replaceAll('\n', ' ')
      .replace(/(.{1,80})(?: +|$)/g, '$1\n')
      .trimEnd(),
  )
}

/** The help of one command. */
export const helpOf = ({ name, usage, summary, help, options }: Command): string =>
  `plantstore ${name}: ${summary}

Usage: plantstore ${[name, usage].filter(Boolean).join(' ')} [OPTIONS]

${wrap(help)}

Options (a flag wins over its environment variable):
${describeOptions(options)}
`
