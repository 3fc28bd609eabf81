// Grafana's dashboard: by Grafana's own schema, and each of its queries as Prometheus answers it.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../harness/daemon.ts'
import { run } from '../../harness/process.ts'
import { Skipped, until } from '../faults/fault.ts'
import { need, needGo, sh } from '../faults/lab.ts'
import { type Case, expect, writeFiles } from './case.ts'
import { CONFIG, PATIENCE_MS, samples, startPrometheus } from './prometheus.ts'
import { startPlantstore } from './proxy.ts'

const checker = join(root, 'dist/hosting/check-dashboard')
const text = readFileSync(join(root, 'deploy/grafana-dashboard.json'), 'utf8')

const { panels } = JSON.parse(text) as {
  panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[]
}

// As Grafana fills them in.
const variables = { $job: 'plantstore', $instance: '127.0.0.1:3000', $__rate_interval: '1m' }
const queries = panels.flatMap(({ targets = [] }) =>
  targets.map(({ expr }) =>
    Object.entries(variables).reduce((query, [name, value]) => query.replaceAll(name, value), expr),
  ),
)

const isSchema = async (dashboard: string) => {
  const { out, err, code } = await run([checker], { stdin: dashboard })
  return { isAccepted: code === 0, detail: out + err }
}

export const dashboard: Case = {
  name: 'dashboard',
  about: "Grafana's schema accepts the dashboard, and Prometheus answers each of its queries",
  async install() {
    await need('prometheus')
    const go = await needGo()
    try {
      await sh(...go, 'build', '-C', join(import.meta.dir, 'dashboard'), '-o', checker, '.')
    } catch (error) {
      throw new Skipped(`cannot build the check of Grafana's schema: ${error}`)
    }
  },
  async run() {
    const { isAccepted, detail } = await isSchema(text)
    expect(isAccepted, `Grafana's schema refuses the dashboard: ${detail}`)
    const altered = text.replace('"graphMode"', '"noSuchOption"')
    expect(!(await isSchema(altered)).isAccepted, "Grafana's schema accepts anything")

    const backups = '/var/backups/plantstore'
    mkdirSync(backups, { recursive: true })
    const daemon = await startPlantstore('--keep-changes', '1d', '--backup-folder', backups)
    writeFiles('Prometheus')
    writeFileSync(CONFIG, readFileSync(CONFIG, 'utf8').replace(/_interval: 15s/g, '_interval: 1s'))
    await startPrometheus()
    await daemon.create('{"id":1,"name":"Rose"}')
    const metrics = await (await daemon.fetch('/metrics')).text()
    // Other queries are for PostgreSQL and TLS.
    const isServed = (query: string) =>
      (query.match(/plantstore_\w+/g) ?? []).every((name) => metrics.includes(name))
    const served = queries.filter(isServed)
    for (const query of served) {
      const isAnswered = async () => ((await samples(query))?.length ?? 0) > 0
      expect(await until(PATIENCE_MS, isAnswered), `no data: ${query}`)
    }
    for (const query of queries) expect((await samples(query)) !== null, `invalid: ${query}`)
    return `${queries.length} queries, ${served.length} with data`
  },
}
