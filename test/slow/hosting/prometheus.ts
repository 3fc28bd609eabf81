// Prometheus scrapes plantstore with a token that can only read, and has what Grafana's dashboard asks for.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../harness/daemon.ts'
import { run } from '../../harness/process.ts'
import { until } from '../../harness/until.ts'
import { Skipped } from '../faults/fault.ts'
import { need, needGo, sh, startServer } from '../faults/lab.ts'
import { type Case, expect, script, writeFiles } from './case.ts'
import { startPlantstore } from './proxy.ts'

const PLANTS = 7

/** Prometheus's configuration on the page. */
const CONFIG = '/etc/prometheus/prometheus.yml'

// The folder of these files in the package.
const PACKAGED = '/usr/share/plantstore'
const deploy = join(root, 'deploy')
const alerts = join(import.meta.dir, 'alerts.yml')
const dashboard = readFileSync(join(deploy, 'grafana-dashboard.json'), 'utf8')
const checker = join(root, 'dist/hosting/check-dashboard')

type Sample = { readonly value: readonly [number, string] }
type Rule = { readonly name: string; readonly health: string; readonly state: string }
type Panel = { readonly targets?: readonly { readonly expr: string }[] }

async function ask<T>(path: string): Promise<T> {
  const answer = await fetch(`http://127.0.0.1:9090/api/v1/${path}`)
  const { data } = (await answer.json()) as { data: T }
  return data
}

/** The samples of a query; null if it is invalid or Prometheus does not listen yet. */
const samples = (query: string): Promise<readonly Sample[] | null> =>
  ask<{ result: Sample[] }>(`query?query=${encodeURIComponent(query)}`).then(
    ({ result }) => result,
    () => null,
  )

const rules = async (): Promise<Rule[]> =>
  (await ask<{ groups: { rules: Rule[] }[] }>('rules')).groups.flatMap((group) => group.rules)

/** Runs the commands of the page, and starts Prometheus with its configuration. */
async function startPrometheus(): Promise<void> {
  writeFiles('Prometheus')
  writeFileSync(CONFIG, readFileSync(CONFIG, 'utf8').replace(/_interval: 15s/g, '_interval: 1s'))
  await sh('sh', '-c', script('Prometheus').replace(PACKAGED, deploy))
  await sh('promtool', 'check', 'config', CONFIG)
  await sh('promtool', 'test', 'rules', alerts)
  const asUser = ['setpriv', '--reuid=prometheus', '--regid=prometheus', '--clear-groups']
  const storage = '--storage.tsdb.path=/var/lib/prometheus/metrics2'
  const address = '--web.listen-address=127.0.0.1:9090'
  startServer(...asUser, 'prometheus', `--config.file=${CONFIG}`, storage, address)
}

async function isDashboard(text: string): Promise<boolean> {
  return (await run([checker], { stdin: text })).code === 0
}

/** Checks that Prometheus accepts each query of the dashboard, and has data for those on these metrics. */
async function checkDashboard(metrics: string): Promise<void> {
  expect(await isDashboard(dashboard), "Grafana's schema refuses the dashboard")
  const altered = dashboard.replace('"graphMode"', '"noSuchOption"')
  expect(!(await isDashboard(altered)), "Grafana's schema accepts anything")
  const { panels }: { panels: readonly Panel[] } = JSON.parse(dashboard)
  // As Grafana fills them in.
  const queries = panels
    .flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
    .map((query) =>
      query
        .replaceAll('$job', 'plantstore')
        .replaceAll('$instance', '127.0.0.1:3000')
        .replaceAll('$__rate_interval', '1m'),
    )
  // Other queries are for PostgreSQL, backups and TLS.
  const served = queries.filter((query) =>
    (query.match(/plantstore_\w+/g) ?? []).every((name) => metrics.includes(name)),
  )
  for (const query of served)
    await until(`data for ${query}`, async () => (await samples(query))?.length)
  for (const query of queries) expect((await samples(query)) !== null, `invalid: ${query}`)
}

/** Checks that the alerts see missing backups and a plantstore that is gone, and nothing else. */
async function checkAlerts(stop: () => Promise<unknown>): Promise<void> {
  const pending = (alert: string) =>
    until(`a pending ${alert}`, async () =>
      (await rules()).some(({ name, state }) => name === alert && state === 'pending'),
    )
  await pending('PlantstoreNoBackups')
  await stop()
  await pending('PlantstoreDown')
  await until('no other alert', async () =>
    (await rules()).every(({ name, state }) => name === 'PlantstoreDown' || state === 'inactive'),
  )
  const all = await rules()
  const namesOf = (some: readonly Rule[]) => some.map(({ name }) => name).join(', ')
  const broken = all.filter(({ health }) => health !== 'ok')
  expect(broken.length === 0, `cannot be evaluated: ${namesOf(broken)}`)
  const tested = readFileSync(alerts, 'utf8')
  const untested = all.filter(({ name }) => !tested.includes(`"${name}"`))
  expect(untested.length === 0, `not in alerts.yml: ${namesOf(untested)}`)
}

export const prometheus: Case = {
  name: 'prometheus',
  about:
    "Prometheus scrapes with a read token, answers the dashboard's queries, and its alerts see that plantstore is gone",
  async install() {
    await need('prometheus')
    const go = await needGo()
    try {
      await sh(...go, 'build', '-C', join(import.meta.dir, 'grafana'), '-o', checker, '.')
    } catch (error) {
      throw new Skipped(`cannot build the check of Grafana's schema: ${error}`)
    }
  },
  async run() {
    const daemon = await startPlantstore('--keep-changes', '1d')
    await startPrometheus()
    for (let id = 1; id <= PLANTS; id++) await daemon.create(`{"id":${id},"name":"Rose"}`)
    const metrics = await (await daemon.fetch('/metrics')).text()
    const { code, err } = await run(['promtool', 'check', 'metrics'], { stdin: metrics })
    expect(code === 0, `promtool check metrics: ${err}`)
    const is = (query: string, value: number) =>
      until(
        `${query} is ${value}`,
        async () => (await samples(query))?.[0]?.value[1] === String(value),
      )
    await is('up{job="plantstore"}', 1)
    await is('plantstore_plants', PLANTS)
    await checkDashboard(metrics)
    await checkAlerts(daemon.stop)
  },
}
