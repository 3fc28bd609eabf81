export type Level = 'info' | 'warn' | 'error'

/** Writes one event of the daemon's life. Fields are data: never a token, never a header. */
export type Log = (level: Level, event: string, fields?: Readonly<Record<string, unknown>>) => void

const plain = (value: unknown): string =>
  typeof value === 'string' && /^[\w./:@%+-]+$/.test(value) ? value : JSON.stringify(value)

function readable(level: Level, event: string, fields: Readonly<Record<string, unknown>>): string {
  const rest = Object.entries(fields).map(([key, value]) => `${key}=${plain(value)}`)
  return [level.padEnd(5), event, ...rest].join('  ')
}

/**
 * A log of one line an event: JSON (`time` in RFC 3339, UTC), or readable text for a terminal.
 * Either way a text of a client's stays within its line: JSON escapes all control characters.
 */
export function createLog(
  write: (line: string) => void,
  format: 'json' | 'text',
  now: () => number,
): Log {
  return (level, event, fields = {}) => {
    const time = new Date(now()).toISOString()
    write(
      format === 'text'
        ? `${time}  ${readable(level, event, fields)}\n`
        : `${JSON.stringify({ time, level, event, ...fields })}\n`,
    )
  }
}
