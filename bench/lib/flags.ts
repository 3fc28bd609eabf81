// Flags of a command, from one table: name, default and meaning.
import { parseArgs } from 'node:util'

type Flags = Record<string, { default: string; means: string }>

/** Every flag as text. Prints the table and ends at --help, ends with 2 at a flag it lacks. */
export function readFlags<T extends Flags>(what: string, flags: T): Record<keyof T, string> {
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, flag]) => [
      name,
      { type: 'string' as const, default: flag.default },
    ]),
  )
  try {
    const { values } = parseArgs({ options: { ...options, help: { type: 'boolean' } } })
    if (values.help) {
      console.log(`${what}\n`)
      for (const [name, flag] of Object.entries(flags)) {
        console.log(`  --${name.padEnd(14)} ${flag.means} (${flag.default || 'none'})`)
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
    const number = Number(item)
    if (!Number.isFinite(number) || number < 0 || item.trim() === '') {
      console.error(`not a number: ${item}`)
      process.exit(2)
    }
    return number
  })
}

export function number(text: string): number {
  return numbers(text)[0] ?? 0
}
