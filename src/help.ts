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

const WIDTH = 80

/** A paragraph in lines of at most 80 characters. */
function wrapParagraph(paragraph: string): string {
  const lines: string[] = []
  for (const word of paragraph.split(/\s/)) {
    const longer = `${lines.at(-1) ?? ''} ${word}`
    if (lines.length > 0 && longer.length <= WIDTH) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines.join('\n')
}

/** Wraps the paragraphs of a text; lines that are indented stay as they are. */
const wrap = (text: string): string => text.replace(/^\S.*(\n\S.*)*$/gm, wrapParagraph)

/** The help of one command. */
export const helpOf = ({ name, usage, summary, help, options, wording }: Command): string =>
  `plantstore ${name}: ${summary}

Usage: plantstore ${[name, usage].filter(Boolean).join(' ')} [OPTIONS]

${wrap(help)}

Options (a flag wins over its environment variable):
${describeOptions(options, wording)}
`
