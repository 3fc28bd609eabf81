// The alerts for Prometheus and the dashboard for Grafana use the metrics of the daemon.
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { FAMILIES } from '../src/metrics'
import { root } from './harness/daemon'

type Rule = {
  readonly alert: string
  readonly expr: string
  readonly labels?: { readonly severity?: string }
  readonly annotations?: { readonly summary?: string }
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
const served = Object.keys(FAMILIES)

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
  test('have a severity, and say what to do', () => {
    expect(rules.length).toBeGreaterThan(5)
    for (const { labels, annotations } of rules) {
      expect(labels?.severity).toMatch(/^(critical|warning)$/)
      expect(annotations?.summary).toMatch(/; .+\.$/)
    }
  })

  test('use metrics that the daemon serves', () => {
    const unknown = rules.flatMap(({ expr }) => metricsIn(expr)).filter((it) => it !== 'up')
    expect(unknown.filter((it) => !served.includes(it))).toEqual([])
  })
})

describe('the dashboard', () => {
  test('shows every metric, and no other but up', () => {
    const shown = new Set(queries.flatMap(metricsIn))
    expect([...shown].sort()).toEqual([...served, 'up'].sort())
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
