import { expect, setDefaultTimeout, test } from 'bun:test'
import { createLog } from '../src/log'
import { hasScript, storeFolder } from './harness/commands'
import { PATIENCE_MS, startProgram, temporaryFolder } from './harness/daemon'

setDefaultTimeout(PATIENCE_MS)

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

test('logs start and stop as lines of JSON, and no request, whichever route is first', async () => {
  using folder = storeFolder()
  const { database } = folder
  await using daemon = await folder.serve()
  const json = { id: 1, name: 'Rose' }
  await daemon.fetch('/plants', { json })
  await daemon.fetch('/plants/batch', { json: { plants: [json] } })
  await daemon.fetch('/plants/1', { method: 'PUT', json })
  for (const path of ['/plants', '/plants/1', '/health', '/metrics', '/openapi.json', '/nowhere']) {
    await daemon.fetch(path)
  }
  await daemon.fetch('/plants/1', { method: 'DELETE' })
  await daemon.stop()

  const events = daemon
    .err()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  for (const { time, level } of events) {
    expect(time).toMatch(RFC3339)
    expect(level).toBe('info')
  }
  expect(events.map(({ event }) => event)).toEqual(['listening', 'stopping', 'stopped'])
  expect(events[0]).toMatchObject({ url: daemon.url, database })
  expect(daemon.out()).toMatch(/^console: .*\ncreated the database .*\n$/)
})

test('logs only what --log-level asks for', async () => {
  using folder = temporaryFolder()
  const args = ['serve', '--port', '0', '--database', folder.file('plants.db')]
  const child = startProgram([...args, '--log-requests', '--log-level', 'warn'])
  await child.prints(() => child.out().includes('to make another token'))
  const [, token, url] = /(pst_\S+)'.* (http:\S+)\n/.exec(child.out()) ?? []
  const answer = await fetch(`${url}`, { headers: { authorization: `Bearer ${token}` } })
  expect(answer.status).toBe(200)
  process.kill(child.pid, 'SIGTERM')

  expect(await child.exited).toBe(0)
  expect(child.err()).toBe('')
})

test('logs warnings and errors at the level warn, and no more', () => {
  const lines: string[] = []
  const log = createLog((line) => lines.push(line), 'json', Date.now, 'warn')
  for (const level of ['info', 'warn', 'error'] as const) log(level, `an-event-of-${level}`)

  expect(lines.map((line) => JSON.parse(line).level)).toEqual(['warn', 'error'])
})

test.skipIf(!hasScript)('logs text on a terminal', async () => {
  using folder = storeFolder()
  const lines = (await folder.serveOnTerminal()).split(/\r?\n/)

  expect(lines.filter((line) => line.startsWith('{'))).toEqual([])
  const logged = lines.filter((line) => RFC3339.test(line.slice(0, 24)))
  expect(logged.map((line) => line.slice(26))).toEqual([
    expect.stringMatching(/^info {3}listening {2}url=http:\/\/127\.0\.0\.1:\d+ {2}/),
    'info   stopping  signal=SIGTERM',
    'info   stopped',
  ])
})

test.skipIf(!hasScript)('logs JSON on a terminal with --log-format json', async () => {
  using folder = storeFolder()
  const text = await folder.serveOnTerminal('--log-format', 'json')
  const lines = text.split(/\r?\n/).filter((line) => line.startsWith('{'))

  expect(lines.map((line) => JSON.parse(line).event)).toEqual(['listening', 'stopping', 'stopped'])
})

test('logs text into a file with --log-format text', async () => {
  using folder = temporaryFolder()
  const args = ['serve', '--port', '0', '--database', folder.file('plants.db')]
  await using child = startProgram([...args, '--log-format', 'text'])
  await child.prints(() => child.err().includes('listening'))

  expect(child.err().slice(26)).toMatch(/^info {3}listening {2}url=http:\/\/127\.0\.0\.1:\d+ {2}/)
  expect(await child.stop()).toBe(0)
})

test.each(['json', 'text'] as const)(
  'writes each event as one line that commands no terminal, as %s',
  (format) => {
    const lines: string[] = []
    const log = createLog((line) => lines.push(line), format, Date.now)
    const path = 'a"b\n{"event":"faked"}\r\x1b[2J\x7f\x85\x9b31m\u2028\u202e\u2066é€🌱'

    log('warn', 'odd', { path })

    const [line = ''] = lines
    expect(line).toEndWith('\n')
    expect(line.trimEnd()).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u)
    expect(line).toContain('é€🌱')
    const [quoted = ''] = /"a.*🌱"/u.exec(line) ?? []
    expect(JSON.parse(quoted)).toBe(path)
  },
)
