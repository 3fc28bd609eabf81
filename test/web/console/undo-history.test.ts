// Changes to many plants in the console, undone and redone with a real daemon.
import { describe, expect, spyOn, test } from 'bun:test'
import type { NewPlant } from '../../../src/client/client'
import { createAnnouncer } from '../../../src/web/console/announcer'
import { ChangeQueue } from '../../../src/web/console/change-queue'
import { BackgroundSaves } from '../../../src/web/console/editor/background-saves'
import { PlantForm } from '../../../src/web/console/editor/plant-form'
import { creationOf, deletionOf, taggingOf } from '../../../src/web/console/undo/step'
import { UndoHistory } from '../../../src/web/console/undo/undo-history'
import { TOKEN } from '../../harness/daemon'
import { ownDaemon } from '../../harness/own-daemon'
import { storedPlants } from '../../harness/plants'
import { holdNextAnswer, numbered, openList, requestsOf } from './opened-list'

const { daemon, database, createPlants, createToken } = ownDaemon()
const narrow = ownDaemon({ args: ['--max-body-bytes', '2048'] })

/** Opens the list of a console, with its change queue and undo history. */
async function open({ of = daemon, token = TOKEN } = {}) {
  const opened = await openList(of, { token })
  const announcer = createAnnouncer()
  const queue = new ChangeQueue()
  const undoHistory = new UndoHistory(opened.list, announcer, queue)
  return {
    ...opened,
    undoHistory,
    queue,
    sentence: () => announcer.sentence.value,
    again: async (step: () => void) => {
      step()
      // This change waits for the step before it.
      await undoHistory.do([])
    },
  }
}

const ids = () => storedPlants(database).map(({ id }) => id)

describe('a deletion', () => {
  test('takes three requests for 2500 plants, and can be undone and redone', async () => {
    const plants = numbered(10_000, 2500)
    await createPlants(plants)
    const { undoHistory, again } = await open()
    const requests = await requestsOf(daemon, () => undoHistory.do(plants.map(deletionOf)))
    expect(requests).toEqual(Array(3).fill('/plants/batch-delete'))
    expect(ids()).toEqual([])
    await again(undoHistory.undo)
    expect(ids()).toEqual(plants.map(({ id }) => id))
    await again(undoHistory.redo)
    expect(ids()).toEqual([])
  })

  test('leaves a plant that someone else changed, names it and shows it', async () => {
    const plants = numbered(1, 5)
    await createPlants(plants)
    const { list, undoHistory, sentence } = await open()
    await daemon.fetch('/plants/2', { method: 'PATCH', json: { tag: 'theirs' } })
    await daemon.fetch('/plants/3', { method: 'DELETE' })
    await undoHistory.do(plants.slice(0, 4).map(deletionOf))

    expect(sentence()).toBe(
      'Deleted 2 plants; left out: plant 2 (someone changed it); Ctrl+Z undoes it',
    )
    expect(list.rows.heldPlants()).toEqual([
      { id: 2n, name: 'Moss 1', tag: 'theirs' },
      { id: 5n, name: 'Moss 4' },
    ])
    expect(ids()).toEqual([2n, 5n])
  })

  test('removes the row of a plant that an edit has just saved', async () => {
    await createPlants(numbered(70, 2))
    const { list, queue, undoHistory } = await open()
    const saved = { id: 70n, name: 'edited' }
    void queue.add(async () => {
      await daemon.fetch('/plants/70', { method: 'PUT', json: { name: 'edited' } })
      list.put(saved)
    })
    await undoHistory.do([deletionOf(saved)])
    expect(ids()).not.toContain(70n)
    expect(list.rows.plant(70n)).toBeUndefined()
    await undoHistory.do([deletionOf({ id: 71n, name: 'Moss 1' })])
  })

  test('puts all plants back if refused, and sends nothing more', async () => {
    const plants = numbered(3000, 2000)
    const token = await createToken('reader', '--scope', 'read')
    const { list, undoHistory, sentence } = await open({ token })
    const before = storedPlants(database)
    const requests = await requestsOf(daemon, () => undoHistory.do(plants.map(deletionOf)))

    expect(requests).toHaveLength(1)
    expect(sentence()).toContain('(this token is read-only; use a write token)')
    expect(list.rows.heldPlants()).toHaveLength(before.length + plants.length)
    expect(storedPlants(database)).toEqual(before)
    expect(undoHistory.undoItems.value).toEqual([])
  })

  test('is split if it exceeds one request', async () => {
    const plants = numbered(1, 90)
    await narrow.createPlants(plants)
    const { undoHistory } = await open({ of: narrow.daemon })
    const requests = await requestsOf(narrow.daemon, () => undoHistory.do(plants.map(deletionOf)))

    expect(requests.length).toBeGreaterThan(2)
    expect(storedPlants(narrow.database)).toEqual([])
  })
})

test.each([
  ['an empty tag', { name: 'Rosa', tag: '' }],
  ['a Windows line break', { name: 'Rosa\r\nalba', tag: 'rose' }],
  ['no tag', { name: 'Rosa alba' }],
])(
  'an earlier version is restored exactly unless someone else changed it: %s',
  async (_, version) => {
    await daemon.fetch('/plants/650', { method: 'DELETE' })
    const before = { id: 650n, name: 'Moss', tag: 'old' }
    await daemon.create('{"id":650,"name":"Moss","tag":"old"}')
    const { undoHistory, sentence } = await open()
    const step = { id: 650n, before, after: { id: 650n, ...version } }
    await undoHistory.do([step])

    expect(storedPlants(database).at(-1)).toEqual({ id: 650n, tag: null, ...version })
    const theirs = { name: 'theirs', tag: 'theirs' }
    await daemon.fetch('/plants/650', { method: 'PATCH', json: theirs })
    await undoHistory.do([step])
    expect(sentence()).toBe('Nothing was changed; left out: plant 650 (someone changed it)')
  },
)

test('a plant that someone else created is not replaced, but shown', async () => {
  await daemon.fetch('/plants/651', { method: 'DELETE' })
  const { list, undoHistory, sentence } = await open()
  await daemon.create('{"id":651,"name":"theirs"}')
  await undoHistory.do([creationOf({ id: 651n, name: 'Moss' })])

  expect(sentence()).toBe('Nothing was changed; left out: plant 651 (the ID is taken)')
  expect(list.rows.plant(651n)?.name).toBe('theirs')
})

describe('tagging several plants', () => {
  test('is undone except where a colleague changed the tag; other fields stay theirs', async () => {
    const plants = numbered(500, 4)
    await createPlants(plants)
    const { undoHistory, again } = await open()
    await undoHistory.do(plants.map((plant) => taggingOf(plant, 'shade')))
    const tags = () =>
      storedPlants(database)
        .filter(({ id }) => id >= 500n && id < 504n)
        .map(({ name, tag }) => `${name} ${tag}`)
    expect(tags()).toEqual(['Moss 0 shade', 'Moss 1 shade', 'Moss 2 shade', 'Moss 3 shade'])
    await daemon.fetch('/plants/501', { method: 'PATCH', json: { tag: 'theirs' } })
    await daemon.fetch('/plants/502', { method: 'PATCH', json: { name: 'theirs' } })
    await again(undoHistory.undo)
    expect(tags()).toEqual(['Moss 0 null', 'Moss 1 theirs', 'theirs null', 'Moss 3 null'])
    await again(undoHistory.redo)
    expect(tags()).toEqual(['Moss 0 shade', 'Moss 1 theirs', 'theirs shade', 'Moss 3 shade'])
  })
})

test('a bulk change without a response is sent again once the service responds', async () => {
  const plants = numbered(680, 3)
  await createPlants(plants)
  const { session, undoHistory, sentence } = await open()
  session.isReachable.subscribe((isReachable) => {
    if (!isReachable) setTimeout(() => Object.assign(session.isReachable, { value: true }), 20)
  })
  using fetched = spyOn(globalThis, 'fetch').mockImplementationOnce((() =>
    Promise.reject(new TypeError('no network'))) as unknown as typeof fetch)
  await undoHistory.do(plants.map((plant) => taggingOf(plant, 'shade')))

  expect(fetched.mock.calls.length).toBeGreaterThan(1)
  expect(sentence()).toBe('Set the tag “shade” on 3 plants; Ctrl+Z undoes it')
  expect(storedPlants(database).filter(({ tag }) => tag === 'shade').length).toBeGreaterThan(2)
})

test('a cell edited right after a bulk change is saved after it, without a conflict', async () => {
  const plant = { id: 700n, name: 'Moss 0' }
  await createPlants([plant])
  const { list, undoHistory, queue } = await open()
  const saves = new BackgroundSaves(list, queue, () => {})
  void undoHistory.do([{ id: 700n, before: plant, after: { ...plant, name: 'pasted' } }])
  // An edited cell starts from the text shown, and reads the plant again before it is saved.
  const form = new PlantForm(list, { plant: list.rows.plant(700n) ?? plant, etag: undefined })
  form.reading = queue.whenDone.then(async () => (await form.readAgain()) !== null)
  form.draft.texts.name.value = 'pasted, then typed'

  expect(await saves.save(form)).toBeTrue()
  expect(storedPlants(database).at(-1)).toMatchObject({ id: 700n, name: 'pasted, then typed' })
})

test('an unsaved text stays in its row while others change the plant', async () => {
  const plant = { id: 800n, name: 'Moss 0' }
  await createPlants([plant])
  const { list, queue } = await open()
  const saves = new BackgroundSaves(list, queue, () => {})
  list.withUnsaved = saves.withUnsaved
  const form = new PlantForm(list, { plant, etag: undefined })
  form.draft.texts.name.value = 'typed'
  saves.refusedForms.value = [form]

  list.put(plant)
  list.changeAll(new Map([[800n, { name: 'Moss 0', tag: 'theirs' }]]))

  expect(list.rows.plant(800n)).toEqual({ id: 800n, name: 'typed', tag: 'theirs' })
})

test('Undo says if nothing is left to undo, or why it cannot undo', async () => {
  const { undoHistory, sentence } = await open()
  const said: string[] = []
  undoHistory.record({
    what: 'the import of x.csv',
    steps: [],
    undoBarrier: 'it has too many plants',
  })
  for (const step of [undoHistory.undo, undoHistory.undo, undoHistory.redo]) {
    step()
    await Bun.sleep(20)
    said.push(sentence())
  }
  expect(said).toEqual([
    'Cannot undo the import of x.csv: it has too many plants',
    'Nothing to undo',
    'Nothing to redo',
  ])
})

describe('after a disconnect in its midst', () => {
  test('a change sends nothing under the next token, which cannot undo it', async () => {
    const plants = numbered(20_000, 1500)
    await createPlants(plants)
    const { session, queue, undoHistory } = await open()
    const before = ids().length
    using held = holdNextAnswer()
    const acting = [
      undoHistory.do(plants.map(deletionOf)),
      undoHistory.do([deletionOf(plants[1499] as NewPlant)]),
    ]
    await held.answered
    session.disconnect()
    queue.forget()
    undoHistory.clear()
    await session.connect(TOKEN)
    held.release()

    expect(await Promise.all(acting)).toEqual([[], []])
    expect(undoHistory.undoItems.value).toEqual([])
    expect(ids()).toHaveLength(before - 1000)
  })

  test('a save and those queued after it are dropped', async () => {
    await createPlants(numbered(80, 2))
    const { session, list, queue } = await open()
    const steps: unknown[] = []
    const saves = new BackgroundSaves(list, queue, (step) => steps.push(step))
    const formOf = (id: bigint) => {
      const form = new PlantForm(list, { plant: { id, name: 'Moss' }, etag: undefined })
      form.draft.texts.name.value = 'changed'
      return form
    }
    using held = holdNextAnswer()
    const saving = [saves.save(formOf(80n)), saves.save(formOf(81n))]
    await held.answered
    session.disconnect()
    saves.forget()
    await session.connect(TOKEN)
    held.release()

    expect(await Promise.all(saving)).toEqual([false, false])
    expect(steps).toEqual([])
    expect(saves.hasUnsaved).toBeFalse()
    expect(storedPlants(database).find(({ id }) => id === 81n)?.name).toBe('Moss 1')
  })
})
