// Monitoring: docs/monitoring.md, the alerts for Prometheus and the dashboard for Grafana agree.
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './harness/daemon'

type Rule = {
  readonly alert: string
  readonly expr: string
  readonly labels?: { readonly severity?: string }
}
type Panel = {
  readonly id: number
  readonly title: string
  readonly type: string
  readonly gridPos: {
    readonly x: number
    readonly y: number
    readonly w: number
    readonly h: number
  }
  readonly targets?: readonly { readonly refId: string; readonly expr: string }[]
}

const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const page = read('docs/monitoring.md')

/** The first two cells of the rows of all tables of the page. */
const rows = [...page.matchAll(/^\| `(\w+)` \| (.*?) \|/gm)].map(
  ([, name = '', cell = '']) => [name, cell] as const,
)

// docs.test.ts compares them with those that the daemon serves.
const documented = rows
  .filter(([, type]) => /^(counter|gauge|histogram)$/.test(type))
  .map(([name]) => name)

const { groups } = Bun.YAML.parse(read('deploy/plantstore.rules.yml')) as {
  groups: readonly { readonly rules: readonly Rule[] }[]
}
const rules = groups.flatMap((group) => group.rules)

const { panels } = JSON.parse(read('deploy/grafana-dashboard.json')) as { panels: readonly Panel[] }
const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))

/** The metrics in an expression or a sentence, each once, without the suffixes of histograms. */
function metricsIn(text: string): string[] {
  const names = text.match(/\b(?:plantstore|process)_\w+|\bup\b/g) ?? []
  return [...new Set(names.map((name) => name.replace(/_(bucket|sum|count)$/, '')))]
}

describe('the alerts', () => {
  test('are those of docs/monitoring.md, on the same metrics', () => {
    expect(rules.length).toBeGreaterThan(5)
    const listed = rows.filter(([name]) => name.startsWith('Plantstore'))
    expect(listed.map(([name, when]) => [name, metricsIn(when)])).toEqual(
      rules.map(({ alert, expr }) => [alert, metricsIn(expr)]),
    )
  })

  test('have the severity that docs/monitoring.md says, critical or warning', () => {
    const listed = [...page.matchAll(/^\| `(Plantstore\w+)` \| .*? \| (critical|warning) \|/gm)]
    expect(rules.map(({ alert, labels }) => [alert, labels?.severity])).toEqual(
      listed.map(([, alert, severity]) => [alert, severity]),
    )
  })

  test('are on metrics that the daemon serves', () => {
    const unknown = rules.flatMap(({ expr }) => metricsIn(expr)).filter((it) => it !== 'up')
    expect(unknown.filter((it) => !documented.includes(it))).toEqual([])
  })
})

describe('the dashboard', () => {
  test('shows every metric, and no other but up', () => {
    const shown = new Set(queries.flatMap(metricsIn))
    expect([...shown].sort()).toEqual([...documented, 'up'].sort())
  })

  test('filters every query by the chosen job and instances', () => {
    const unfiltered = /\b(?:plantstore|process)_\w+(?!\w|\{job="\$job", instance=~"\$instance"\})/
    expect(queries.filter((query) => unfiltered.test(query))).toEqual([])
  })

  test('has panels that do not overlap, with different ids', () => {
    const overlapping = panels.filter(({ gridPos: a }, index) =>
      panels.slice(index + 1).some(({ gridPos: b }) => {
        const isBeside = a.x + a.w <= b.x || b.x + b.w <= a.x
        const isAbove = a.y + a.h <= b.y || b.y + b.h <= a.y
        return !isBeside && !isAbove
      }),
    )
    expect(overlapping.map(({ title }) => title)).toEqual([])
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  })
})
