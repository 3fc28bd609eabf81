// The flags of a command, from one table.
import { parseArgs } from 'node:util'

type Flags = Record<string, { default: string; help: string }>

/** Every flag as text. Ends the command at --help, and with 2 at an unknown flag. */
export function readFlags<T extends Flags>(summary: string, flags: T): Record<keyof T, string> {
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, flag]) => [
      name,
      { type: 'string' as const, default: flag.default },
    ]),
  )
  try {
    const { values } = parseArgs({ options: { ...options, help: { type: 'boolean' } } })
    if (values.help) {
      console.log(`${summary}\n`)
      for (const [name, flag] of Object.entries(flags)) {
        console.log(`  --${name.padEnd(16)} ${flag.help} (default: ${flag.default || 'none'})`)
      }
      process.exit(0)
    }
    return values as Record<keyof T, string>
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exit(2)
  }
}

export function numbers(list: string): number[] {
  return list.split(',').map((item) => {
    if (/^\d+(\.\d+)?$/.test(item)) return Number(item)
    console.error(`not a number: ${item}`)
    return process.exit(2)
  })
}

export function number(text: string): number {
  return numbers(text)[0] ?? 0
}
