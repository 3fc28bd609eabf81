// Charts as SVG, for light and dark pages: bars and lines.
const style = `<style>
text { font: 12px system-ui, sans-serif; fill: #24292f }
.title { font-weight: 600; font-size: 14px }
.grid { stroke: #8886; stroke-width: 1 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } }
</style>`
const colours = ['#2da44e', '#0969da', '#bf8700', '#8250df']

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

function text(x: number, y: number, words: string, attributes = ''): string {
  return `<text x="${round(x)}" y="${round(y)}" ${attributes}>${escaped(words)}</text>`
}

const round = (value: number) => Math.round(value * 10) / 10

function rule(x1: number, y1: number, x2: number, y2: number): string {
  return `<line class="grid" x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}"/>`
}

function picture(width: number, height: number, title: string, parts: string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">`,
    style,
    text(16, 24, title, 'class="title"'),
    ...parts,
    '</svg>\n',
  ].join('\n')
}

function legend(names: string[], y: number): string[] {
  return names.flatMap((name, i) => [
    `<rect x="${16 + i * 160}" y="${y - 10}" width="12" height="12" fill="${colours[i]}"/>`,
    text(34 + i * 160, y, name),
  ])
}

/** Groups of horizontal bars; a value of 1 has the full width. */
export function bars(
  title: string,
  series: string[],
  groups: { name: string; values: number[] }[],
): string {
  const [left, right, top, thick] = [190, 60, 64, 13]
  const [width, step] = [760, series.length * thick + 12]
  const height = top + groups.length * step + 28
  const length = (value: number) => value * (width - left - right)
  const parts = legend(series, 46)
  for (const mark of [0, 0.25, 0.5, 0.75, 1]) {
    const x = left + length(mark)
    parts.push(rule(x, top, x, height - 24))
    parts.push(text(x, height - 8, mark.toFixed(2), 'text-anchor="middle"'))
  }
  groups.forEach((group, g) => {
    const y = top + g * step + 6
    parts.push(text(left - 8, y + (step - 12) / 2 + 4, group.name, 'text-anchor="end"'))
    group.values.forEach((value, s) => {
      const at = y + s * thick
      const wide = round(Math.max(1, length(value)))
      parts.push(
        `<rect x="${left}" y="${at}" width="${wide}" height="${thick - 2}" fill="${colours[s]}"/>`,
        text(left + wide + 5, at + 10, value.toFixed(2), 'font-size="10"'),
      )
    })
  })
  return picture(width, height, title, parts)
}

type Line = { name: string; points: { x: number; y: number }[] }
export type Panel = { title: string; lines: Line[]; show: (value: number) => string }

/** Panels above one x axis; the nth lines of all panels share a name and a colour. */
export function lines(title: string, panels: Panel[], showX: (x: number) => string): string {
  const [left, right, top, tall, gap] = [80, 24, 64, 120, 52]
  const width = 760
  const height = top + panels.length * (tall + gap)
  const xs = panels.flatMap((panel) => panel.lines.flatMap((line) => line.points.map((p) => p.x)))
  const last = Math.max(...xs, 1)
  const parts = legend(panels[0]?.lines.map((line) => line.name) ?? [], 46)
  panels.forEach((panel, p) => {
    const base = top + p * (tall + gap) + tall + 16
    const most = Math.max(
      ...panel.lines.flatMap((line) => line.points.map((point) => point.y)),
      1e-9,
    )
    const x = (value: number) => left + (value / last) * (width - left - right)
    const y = (value: number) => base - (value / most) * tall * 0.95
    parts.push(text(16, base - tall - 4, panel.title))
    for (const mark of [0, most / 2, most]) {
      parts.push(rule(left, y(mark), width - right, y(mark)))
      parts.push(text(left - 6, y(mark) + 4, panel.show(mark), 'text-anchor="end"'))
    }
    for (const mark of [0, last / 4, last / 2, (last * 3) / 4, last]) {
      parts.push(text(x(mark), base + 16, showX(mark), 'text-anchor="middle"'))
    }
    panel.lines.forEach((line, l) => {
      const points = line.points.map((point) => `${round(x(point.x))},${round(y(point.y))}`)
      parts.push(
        `<polyline points="${points.join(' ')}" fill="none" stroke="${colours[l]}" stroke-width="2"/>`,
      )
    })
  })
  return picture(width, height, title, parts)
}
