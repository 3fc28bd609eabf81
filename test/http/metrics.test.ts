import { Database } from 'bun:sqlite'
import { expect, spyOn, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import packageJson from '../../package.json'
import { createMetrics } from '../../src/metrics'
import { RequestError } from '../../src/request-errors'
import { TOKEN } from '../harness/daemon'
import { once, request } from '../harness/http'
import { ownDaemon } from '../harness/own-daemon'
import { until } from '../harness/until'

const { daemon, database } = ownDaemon()

type Family = { readonly type: string; readonly samples: Map<string, number> }

const LABEL = '[a-z]+="(?:[^"\\\\\\n]|\\\\[\\\\n"])*"'
const LINE = new RegExp(
  `^(?:# HELP (\\w+) \\S.*\\.|# TYPE (\\w+) (counter|gauge|histogram)|(\\w+(?:\\{${LABEL}(?:,${LABEL})*\\})?) (\\+Inf|-?\\d+(?:\\.\\d+)?(?:e[+-]?\\d+)?))$`,
)

/** Reads the Prometheus text format, and throws at a malformed line, or one that is not of the family before it. */
function parseMetrics(text: string): Map<string, Family> {
  const families = new Map<string, Family>()
  let family: Family | undefined
  let name = ''
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const [, described, typed, type = '', sample = '', value] = LINE.exec(line) ?? []
    if (described !== undefined) name = described
    else if (typed === name) {
      family = { type, samples: new Map() }
      families.set(name, family)
    } else if (sample.startsWith(name) && !family?.samples.has(sample)) {
      family?.samples.set(sample, Number(value))
    } else throw new Error(`malformed: ${line}`)
  }
  return families
}

const read = async () => {
  const response = await daemon.fetch('/metrics')
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  const families = parseMetrics(await response.text())
  return (key: string): number | undefined =>
    families.get(key.replace(/\{.*/, '').replace(/_(bucket|sum|count)$/, ''))?.samples.get(key) ??
    families.get(key.replace(/\{.*/, ''))?.samples.get(key)
}

test('every family of metrics has the format of Prometheus', async () => {
  const families = parseMetrics(await (await daemon.fetch('/metrics')).text())

  expect([...families].map(([name, { type }]) => `${name} ${type}`)).toEqual([
    'plantstore_http_requests_total counter',
    'plantstore_http_request_duration_seconds histogram',
    'plantstore_commit_changes_total counter',
    'plantstore_commit_duration_seconds histogram',
    'plantstore_plants gauge',
    'plantstore_queue_changes gauge',
    'plantstore_storage_writable gauge',
    'plantstore_storage_damaged gauge',
    'plantstore_database_bytes gauge',
    'plantstore_wal_bytes gauge',
    'plantstore_disk_free_bytes gauge',
    'plantstore_changes_followers gauge',
    'plantstore_build_info gauge',
    'plantstore_unsent_bytes gauge',
    'process_open_fds gauge',
    'process_max_fds gauge',
    'process_start_time_seconds gauge',
    'process_resident_memory_bytes gauge',
  ])
})

test('the daemon counts requests by method, route and status, whatever their paths', async () => {
  await daemon.create(1)
  await daemon.create(1, 'Lily')
  for (const id of [1, 2, 3]) await daemon.fetch(`/plants/${id}`)
  await daemon.fetch('/no"where\\')
  const sample = await read()

  const requests = 'plantstore_http_requests_total'
  expect(sample(`${requests}{method="POST",route="/plants",status="200"}`)).toBe(1)
  expect(sample(`${requests}{method="POST",route="/plants",status="409"}`)).toBe(1)
  expect(sample(`${requests}{method="GET",route="/plants/:id",status="200"}`)).toBe(1)
  expect(sample(`${requests}{method="GET",route="/plants/:id",status="404"}`)).toBe(2)
  expect(sample(`${requests}{method="other",route="/*",status="404"}`)).toBe(1)
  // Refusals are fast, and would hide how long others take.
  const duration = 'plantstore_http_request_duration_seconds_count'
  expect(sample(`${duration}{method="GET",route="/plants/:id"}`)).toBe(1)
})

test('the daemon counts a write whose client has gone as 499, and stores nothing', async () => {
  const gone = async () => {
    const sample = await read()
    return Number(
      sample('plantstore_http_requests_total{method="POST",route="/plants",status="499"}'),
    )
  }
  // Locked: the writes that follow the first wait for it.
  using locker = new Database(database)
  locker.run('BEGIN IMMEDIATE')
  const first = daemon.create(700)
  await Bun.sleep(50)
  const controller = new AbortController()
  const left = daemon.fetch('/plants', {
    method: 'POST',
    body: '{"id":701,"name":"Rose"}',
    headers: { 'content-type': 'application/json' },
    signal: controller.signal,
  })
  await Bun.sleep(50)
  controller.abort()
  await expect(left).rejects.toThrow()
  locker.run('ROLLBACK')

  expect((await first).status).toBe(200)
  await until('the 499', async () => (await gone()) === 1)
  expect((await daemon.fetch('/plants/701')).status).toBe(404)
})

test('the daemon counts the commits that changed something, and no others', async () => {
  const before = await read()
  await daemon.create(10)
  await daemon.create(10)
  await daemon.create(10, 'Lily')
  await daemon.fetch('/plants/99', { method: 'DELETE' })
  await daemon.fetch('/health')
  const after = await read()

  const more = (key: string) => Number(after(key)) - Number(before(key))
  expect(more('plantstore_commit_changes_total')).toBe(1)
  expect(more('plantstore_commit_duration_seconds_count')).toBe(1)
  expect(more('plantstore_plants')).toBe(1)
})

test('the daemon reports the version, the start, the state of the storage and its free space', async () => {
  const first = await read()
  const second = await read()

  const { commit } = await daemon.event('listening')
  const labels = `version="${packageJson.version}",commit="${commit}",bun="${Bun.version}"`
  expect(first(`plantstore_build_info{${labels}}`)).toBe(1)
  const started = first('process_start_time_seconds')
  expect(Math.abs(Number(started) * 1000 - Date.now())).toBeLessThan(600_000)
  expect(second('process_start_time_seconds')).toBe(Number(started))
  expect(first('plantstore_storage_writable')).toBe(1)
})

test('the daemon counts its open files, and shows their limit', async () => {
  const sample = await read()

  const open = readdirSync(`/proc/${daemon.pid}/fd`).length
  expect(Math.abs(Number(sample('process_open_fds')) - open)).toBeLessThan(5)
  expect(sample('process_max_fds')).toBeGreaterThan(open)
})

test('the daemon reports failing storage, even if no file can be opened', () => {
  using _ = spyOn(process.memoryUsage, 'rss').mockImplementation(() => {
    throw new Error('EMFILE')
  })
  const problem = new RequestError('storage failed')
  const stats = { queuedWrites: 0, databaseBytes: 0, walBytes: 0, problem, freeBytes: null }

  expect(createMetrics().render(stats)).toContain('\nplantstore_storage_writable 0\n')
})

test('all methods that a path lacks have one label', async () => {
  for (const method of ['LOCK', 'SEARCH', 'DELETE']) {
    const response = await once(daemon.port, request(method, '/plants', TOKEN))
    expect([method, response?.status]).toEqual([method, 405])
  }
  const sample = await read()

  const requests = 'plantstore_http_requests_total'
  expect(sample(`${requests}{method="other",route="/*",status="405"}`)).toBe(3)
})
