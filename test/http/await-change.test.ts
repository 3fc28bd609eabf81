// Reads of a replica that wait for the change that their header names.
import { expect, test } from 'bun:test'
import { awaitChange } from '../../src/http/conditions/await-change'
import { newApp } from '../../src/http/exchange'
import type { Store } from '../../src/store'
import { ownStore } from '../harness/service'

const store = ownStore()

/** Asks an app whose store is a replica, or the primary; resolves to the name of the error, or "answered". */
function ask(asked: Pick<Store, 'changeLog' | 'stats'>, isReplica = true) {
  const role = isReplica ? { replica: { lagSeconds: 0, lagBytes: null } } : {}
  const behind = {
    get changeLog() {
      return asked.changeLog
    },
    stats: () => ({ ...asked.stats(), ...role }),
  }
  const app = newApp()
    .onError(({ error }) => ('error' in error ? String(error.error) : String(error)))
    .use(awaitChange(behind as Store))
    .all('/plants', () => 'answered')
  return async (cursor: string | null, method = 'GET') => {
    const headers = cursor === null ? {} : { 'plantstore-cursor': cursor }
    return (await app.handle(new Request('http://localhost/plants', { method, headers }))).text()
  }
}

const cursorAt = (last: string, number: number) => last.replace(/\d+$/, String(number))

test('a read waits until the change is there, and for a second at most', async () => {
  const read = ask(store)
  await store.createPlant({ id: 1n, name: 'Fern' })
  const last = (await store.changeLog?.read({ after: 'now', limit: 0 }))?.next ?? ''
  expect(await read(last)).toBe('answered')

  const started = performance.now()
  let reads = 0
  const counting = ask({
    get changeLog() {
      reads += 1
      return store.changeLog
    },
    stats: () => store.stats(),
  })
  expect(await counting(cursorAt(last, 9))).toBe('busy')
  expect(performance.now() - started).toBeGreaterThanOrEqual(1000)
  expect(reads).toBeLessThan(15)

  let isAnswered = false
  const waiting = read(cursorAt(last, 2)).then((response) => {
    isAnswered = true
    return response
  })
  await Bun.sleep(30)
  expect(isAnswered).toBeFalse()
  await store.createPlant({ id: 2n, name: 'Ivy' })
  // It is there, but by another history.
  expect(await waiting).toBe('cursor expired')
})

test('a write does not wait, nor a read without a cursor', async () => {
  const read = ask(store)
  const future = '0000000000000000-999999'

  expect(await read(future, 'POST')).toBe('answered')
  expect(await read(null)).toBe('answered')
  expect(await read(future, 'HEAD')).not.toBe('answered')
  expect(await read('yesterday')).toBe('invalid')
})

test('a read with a cursor is refused where no change log is kept', async () => {
  expect(await ask({ stats: () => store.stats() })('0000000000000000-1')).toBe('no change log')
})

test('a read of the primary does not wait', async () => {
  expect(await ask(store, false)('0000000000000000-999999')).toBe('answered')
})
