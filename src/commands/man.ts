// plantstore man: the manual page, in the macros of man(7).

import packageJson from '../../package.json'
import { type Command, exitCodes } from '../command'
import { describeOption } from '../config'

// A line that begins with a dot or a quote would be a request; a plain hyphen could not be pasted into a shell.
const escapeText = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1')

const paragraphs = (text: string): string =>
  text
    .split(/\n\n+/)
    .map((it) =>
      /^\s/.test(it) ? `.EX\n${escapeText(it)}\n.EE` : escapeText(it.replaceAll('\n', ' ')),
    )
    .join('\n.PP\n')

function optionsOf(command: Command): string {
  return command.options
    .map((name) => {
      const { flag, help, notes } = describeOption(name)
      const text = notes ? `${help} (${notes})` : help
      return `.TP\n.B ${escapeText(flag)}\n${escapeText(text)}`
    })
    .join('\n')
}

function page(commands: readonly Command[]): string {
  const sections = commands.map((command) =>
    `.SS ${escapeText([command.name, command.usage].filter(Boolean).join(' '))}
${escapeText(command.summary)}
.PP
${paragraphs(command.help)}
${optionsOf(command)}`.trimEnd(),
  )
  return `.TH PLANTSTORE 1 "" "plantstore ${packageJson.version}"
.SH NAME
plantstore \\- a durable, authenticated HTTP store of plants
.SH SYNOPSIS
.B plantstore
.I COMMAND
[\\fIOPTIONS\\fR]
.SH COMMANDS
A flag wins over its environment variable.
${sections.join('\n')}
.SH EXIT STATUS
0 success; 1 failure; 2 wrong usage; 74 the disk fails or is full, or the database is damaged.
`
}

export const man: Command = {
  name: 'man',
  usage: '',
  summary: 'print the manual page',
  help: 'To read it: plantstore man | man -l -',
  options: [],
  async run({ commands, out }) {
    out.write(page(commands))
    return exitCodes.ok
  },
}
