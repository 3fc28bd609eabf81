// The log of the daemon: one line per event.

/** The levels of events, least important first. */
export const LEVELS = ['info', 'warn', 'error'] as const
export type Level = (typeof LEVELS)[number]
/** The formats that may be asked for: `auto` is text on a terminal, and JSON elsewhere. */
export const LOG_FORMATS = ['auto', 'json', 'text'] as const
export type LogFormat = (typeof LOG_FORMATS)[number]
type Fields = Readonly<Record<string, unknown>>

/** Logs one event. Fields are data: never a token or a header. */
export type Log = (level: Level, event: string, fields?: Fields) => void

// Beyond what JSON escapes: controls that a terminal obeys, line ends of Unicode, and changes of the direction.
const CONTROLS = /[\x7f-\x9f\u2028-\u202e\u2066-\u2069]/g

const toJson = (value: unknown): string =>
  `${JSON.stringify(value)}`.replace(
    CONTROLS,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

const plain = (value: unknown): string =>
  typeof value === 'string' && /^[\w./:@%+-]+$/.test(value) ? value : toJson(value)

/**
 * The line of an event: JSON (`time` in RFC 3339, UTC), or text for a terminal. Text from clients can neither break the
 * line nor command the terminal.
 */
export function formatEvent(
  format: Exclude<LogFormat, 'auto'>,
  now: number,
  level: Level,
  event: string,
  fields: Fields = {},
): string {
  const time = new Date(now).toISOString()
  if (format === 'json') return `${toJson({ time, level, event, ...fields })}\n`
  const rest = Object.entries(fields).map(([key, value]) => `${key}=${plain(value)}`)
  return `${[time, level.padEnd(5), event, ...rest].join('  ')}\n`
}

/** A log that passes each line of at least this level, with its newline, to `write`. `now`: milliseconds since 1970. */
export function createLog(
  write: (line: string) => void,
  format: Exclude<LogFormat, 'auto'>,
  now: () => number,
  minLevel: Level = 'info',
): Log {
  return (level, event, fields) => {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(minLevel)) return
    write(formatEvent(format, now(), level, event, fields))
  }
}
