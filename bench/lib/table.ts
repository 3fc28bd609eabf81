// Tables, and how figures are written in them.

/** A Markdown table that also reads well in a terminal. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(3, title.length, ...rows.map((row) => (row[column] ?? '').length)),
  )
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => (i ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0))).join(' | ')} |`
  const rule = `| ${widths.map((width, i) => (i ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width))).join(' | ')} |`
  return [line(head), rule, ...rows.map(line)].join('\n')
}

const shown = (value: number, text: string) => (Number.isFinite(value) ? text : '-')

export const thousands = (value: number): string =>
  shown(value, Math.round(value).toLocaleString('en'))

export const decimals = (value: number, digits = 2): string => shown(value, value.toFixed(digits))

export const milliseconds = (us: number): string => shown(us, `${(us / 1000).toFixed(2)} ms`)

export const microseconds = (value: number): string => shown(value, `${value.toFixed(1)} us`)

export const megabytes = (bytes: number): string => shown(bytes, `${(bytes / 1e6).toFixed(1)} MB`)
