// Prometheus scrapes plantstore with a token that can only read.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../harness/daemon.ts'
import { run } from '../../harness/process.ts'
import { until } from '../faults/fault.ts'
import { need, sh } from '../faults/lab.ts'
import { type Case, expect, script, startServer, writeFiles } from './case.ts'
import { startPlantstore } from './proxy.ts'

const PLANTS = 7
// Two scrapes and two evaluations of rules.
export const PATIENCE_MS = 60_000

/** Prometheus's configuration on the page. */
export const CONFIG = '/etc/prometheus/prometheus.yml'

// The folder of these files in the package.
const PACKAGED = '/usr/share/plantstore'
const deploy = join(root, 'deploy')
const alerts = join(import.meta.dir, 'alerts.yml')

type Sample = { readonly value: readonly [number, string] }
type Rule = { readonly name: string; readonly health: string; readonly state: string }

async function ask<T>(path: string): Promise<T> {
  const answer = await fetch(`http://127.0.0.1:9090/api/v1/${path}`)
  const { data } = (await answer.json()) as { data: T }
  return data
}

/** The samples of a query; null if it is invalid or Prometheus does not listen yet. */
export async function samples(query: string): Promise<readonly Sample[] | null> {
  try {
    const { result } = await ask<{ result: Sample[] }>(`query?query=${encodeURIComponent(query)}`)
    return result
  } catch {
    return null
  }
}

/** Runs the commands of the page, and starts Prometheus with its configuration. */
export async function startPrometheus(): Promise<void> {
  await sh('sh', '-c', script('Prometheus').replace(PACKAGED, deploy))
  await sh('promtool', 'check', 'config', CONFIG)
  const asUser = ['setpriv', '--reuid=prometheus', '--regid=prometheus', '--clear-groups']
  const storage = '--storage.tsdb.path=/var/lib/prometheus/metrics2'
  const address = '--web.listen-address=127.0.0.1:9090'
  startServer(...asUser, 'prometheus', `--config.file=${CONFIG}`, storage, address)
}

const rules = async (): Promise<Rule[]> =>
  (await ask<{ groups: { rules: Rule[] }[] }>('rules')).groups.flatMap((group) => group.rules)

export const prometheus: Case = {
  name: 'prometheus',
  about: 'Prometheus scrapes with a read token, and its alerts see that plantstore is gone',
  install: () => need('prometheus'),
  async run() {
    const daemon = await startPlantstore()
    writeFiles('Prometheus')
    await startPrometheus()
    const metrics = await (await daemon.fetch('/metrics')).text()
    const { code, err } = await run(['promtool', 'check', 'metrics'], { stdin: metrics })
    expect(code === 0, `promtool check metrics: ${err}`)

    await sh('promtool', 'test', 'rules', alerts)
    const tested = readFileSync(alerts, 'utf8')
    for (let id = 1; id <= PLANTS; id++) await daemon.create(`{"id":${id},"name":"Rose"}`)
    const is = (query: string, value: string) =>
      until(PATIENCE_MS, async () => (await samples(query))?.[0]?.value[1] === value)
    expect(await is('up{job="plantstore"}', '1'), 'no scrape succeeded')
    expect(await is('plantstore_plants_created_total', String(PLANTS)), 'plants are not counted')

    const isPending = (alert: string) => async () =>
      (await rules()).some(({ name, state }) => name === alert && state === 'pending')
    expect(await until(PATIENCE_MS, isPending('PlantstoreNoBackups')), 'no alert on no backups')

    await daemon.stop()
    expect(
      await until(PATIENCE_MS, isPending('PlantstoreDown')),
      'no alert that plantstore is down',
    )
    const all = await rules()
    expect(
      all.every(({ health }) => health === 'ok'),
      'a rule cannot be evaluated',
    )
    const untested = all.filter(({ name }) => !tested.includes(`"${name}"`))
    expect(untested.length === 0, `not in alerts.yml: ${untested.map(({ name }) => name)}`)
    const others = all.filter(
      ({ name, state }) => name !== 'PlantstoreDown' && state !== 'inactive',
    )
    expect(others.length === 0, `alerts: ${others.map(({ name }) => name)}`)
    return `${PLANTS} plants counted, ${all.length} alerts evaluated`
  },
}
