// Plays every case of the catalogue against one daemon, and compares the answers and the store.
import { beforeAll, describe, expect, test } from 'bun:test'
import { type Answer, type Connection, connect, once } from '../harness/http'
import { ownDaemon } from '../harness/own-daemon'
import { ownPages } from '../harness/own-pages'
import { storedPlants } from '../harness/plants'
import {
  bare,
  type Case,
  type Expected,
  fixture,
  type Row,
  request,
  rowsAfter,
  tokens,
} from './case'
import { catalogue } from './catalogue'
import { expectRefusal, expectSilence } from './expect'

// Enough for a daemon that would answer a request before it is complete.
const SILENT_MS = 40

ownPages()
const { daemon, database, createToken, revokeToken } = ownDaemon()
const created = { expired: '', read: '', revoked: '' }
let expiry = Promise.resolve()
beforeAll(async () => {
  created.expired = await createToken('expired', '--expires', '1s')
  created.read = await createToken('read', '--scope', 'read')
  created.revoked = await createToken('revoked')
  expiry = Bun.sleep(1000)
  await revokeToken('revoked')
  const [id, name, tag] = fixture
  await send(request({ body: JSON.stringify({ id, name, tag }) }))
})

/** The bytes of a case, with real tokens. */
async function withTokens(bytes: Uint8Array): Promise<Uint8Array> {
  let text = Buffer.from(bytes).toString('latin1')
  if (!text.includes('test_')) return bytes
  if (text.includes(tokens.expired)) await expiry
  for (const name of ['expired', 'read', 'revoked'] as const) {
    text = text.replaceAll(tokens[name], created[name])
  }
  return Buffer.from(text, 'latin1')
}

/** Sends a request that a test needs done. */
async function send(bytes: Uint8Array): Promise<Answer> {
  const answer = await once(daemon.port, bytes)
  if (!answer || answer.status >= 300) throw new Error(`answered ${JSON.stringify(answer)}`)
  return answer
}

const stored = () =>
  storedPlants(database).map(({ id, name, tag }) => (tag === null ? [id, name] : [id, name, tag]))

const wholeRow = ([id, name, tag]: Row) =>
  tag === undefined ? [BigInt(id), name] : [BigInt(id), name, tag]

/** Waits until earlier changes are stored: this one changes nothing, and queues behind them. */
async function settle(): Promise<void> {
  const answer = await once(daemon.port, bare('DELETE /plants/-999'))
  if (answer?.status !== 404) throw new Error(`answered ${JSON.stringify(answer)}`)
}

/** Leaves only the fixture in the store. */
async function reset(): Promise<void> {
  const [number, name, tag] = fixture
  const id = BigInt(number)
  const rows = storedPlants(database)
  const others = rows.filter((row) => row.id !== id)
  for (let at = 0; at < others.length; at += 100) {
    const some = others.slice(at, at + 100)
    await Promise.all(some.map((row) => send(bare(`DELETE /plants/${row.id}`))))
  }
  if (!rows.some((row) => row.id === id)) await send(request({ body: `{"id":${id},"name":""}` }))
  await send(request({ line: `PUT /plants/${id} HTTP/1.1`, body: JSON.stringify({ name, tag }) }))
}

function expectAnswer(answer: Answer | undefined, expected: Expected, sent: Case): void {
  if (!answer) throw new Error('the daemon closed the connection without an answer')
  const [status, body] = typeof expected === 'number' ? [expected, undefined] : expected
  if (status > 1000) {
    expectRefusal(answer, status, sent.bytes)
  } else if (status < 400) {
    expect(answer.status).toBe(status)
    if (body === undefined) return
    expect(answer.body).toBe(body)
    expect(answer.headers['content-type']).toBe('application/json')
  } else {
    expect({ status: answer.status, body: answer.body }).toEqual({ status, body: '' })
  }
}

const isClosing = ({ answers, method, after }: Case): boolean => {
  const last = answers.at(-1)
  const isByParser = typeof last === 'number' && last >= 400 && last < 1000 && method !== 'HEAD'
  return after === 'closed' || isByParser
}

async function expectEnd(connection: Connection, sent: Case): Promise<void> {
  if (isClosing(sent)) {
    expect(await connection.whenClosed()).toBe('')
    return
  }
  if (sent.after === 'waiting') {
    await expectSilence(connection, SILENT_MS)
    return
  }
  // Leftover bytes of the last request would be read as the start of this one.
  const answer = await connection.send(bare('GET /health', { fields: ['Connection: close'] }))
  expect(answer?.body).toBe('{"status":"ok"}')
  expect(await connection.whenClosed()).toBe('')
}

/** Sends a case and checks what it promises; returns whether it was answered. */
async function play(sent: Case): Promise<boolean> {
  using connection = await connect(daemon.port)
  connection.write(await withTokens(sent.bytes))
  if (sent.isCut) connection.cut()
  let isAnswered = true
  for (const expected of sent.answers) {
    const answer = await connection.answer(sent.method)
    isAnswered = answer !== undefined
    if (isAnswered || !sent.isUnknown) expectAnswer(answer, expected, sent)
  }
  await expectEnd(connection, sent)
  return isAnswered
}

/** A name without control characters, which a log or a terminal would obey. */
const printable = ({ name }: Case): string =>
  name.replace(/\p{Cc}/gu, (control) => `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`)

for (const [theme, cases] of Object.entries(catalogue)) {
  describe(theme, () => {
    const named = cases.map((sent) => [printable(sent), sent] as const)
    test.each(named)('the daemon follows the catalogue: %s', async (_, sent) => {
      try {
        const isAnswered = await play(sent)
        expect((await send(bare('GET /health'))).body).toBe('{"status":"ok"}')
        await settle()
        const rows = rowsAfter(sent).map(wholeRow)
        if (!isAnswered) expect([rows, [wholeRow(fixture)]]).toContainEqual(stored())
        else expect(stored()).toEqual(rows)
      } finally {
        if (!Bun.deepEquals(stored(), [wholeRow(fixture)])) await reset()
      }
    })
  })
}

test('the daemon logs no unexpected error', () => {
  expect(daemon.events().filter(({ event }) => event === 'unexpected')).toEqual([])
})
