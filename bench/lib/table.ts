// Tables, and how figures are written in them.

/** A Markdown table that also reads well in a terminal. */
export function table(head: string[], rows: string[][]): string {
  const widths = head.map((title, column) =>
    Math.max(3, title.length, ...rows.map((row) => (row[column] ?? '').length)),
  )
  const line = (cells: string[]) =>
    `| ${cells.map((cell, i) => (i ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0))).join(' | ')} |`
  const rule = `| ${widths.map((width, i) => (i ? `${'-'.repeat(width - 1)}:` : '-'.repeat(width))).join(' | ')} |`
  return [line(head), rule, ...rows.map(line)].join('\n')
}

export function thousands(value: number): string {
  return Number.isFinite(value) ? Math.round(value).toLocaleString('en') : '-'
}

export function decimals(value: number, digits = 2): string {
  return Number.isFinite(value) ? value.toFixed(digits) : '-'
}

export function milliseconds(us: number): string {
  if (!Number.isFinite(us)) return '-'
  const ms = us / 1000
  return `${ms.toFixed(ms < 10 ? 2 : ms < 100 ? 1 : 0)} ms`
}

export function microseconds(value: number): string {
  return Number.isFinite(value) ? `${value.toFixed(1)} us` : '-'
}

export function megabytes(bytes: number): string {
  return Number.isFinite(bytes) ? `${(bytes / 1e6).toFixed(1)} MB` : '-'
}
