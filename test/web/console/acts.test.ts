// Changes of many plants in the console, undone and done again, sent to a real daemon.
import { describe, expect, spyOn, test } from 'bun:test'
import type { NewPlant } from '../../../src/client/client'
import { createAnnouncer } from '../../../src/web/console/announcer'
import { PlantForm } from '../../../src/web/console/editor/plant-form'
import { Saves } from '../../../src/web/console/editor/saves'
import { Turns } from '../../../src/web/console/turns'
import { Acts } from '../../../src/web/console/undo/acts'
import { deletionOf, taggingOf } from '../../../src/web/console/undo/step'
import { TOKEN } from '../../harness/daemon'
import { ownDaemon } from '../../harness/own-daemon'
import { storedPlants } from '../../harness/plants'
import { create, holdNextAnswer, numbered, type OpenedList, openList } from './opened-list'

const { daemon, database, createToken } = ownDaemon()
const narrow = ownDaemon({ args: ['--max-body-bytes', '2048'] })

/** The acts on a list, with the requests that they sent. */
function actsOn({ list }: OpenedList) {
  const announcer = createAnnouncer()
  const turns = new Turns()
  const acts = new Acts(list, announcer, turns)
  return {
    acts,
    turns,
    sentence: () => announcer.sentence.value,
    async requestsOf(act: () => Promise<unknown>): Promise<readonly string[]> {
      const fetched = spyOn(globalThis, 'fetch')
      await act()
      const requests = fetched.mock.calls.map(([url, init]) =>
        `${init?.method} ${String(url)}`.replace(/http:..[^/]+/, ''),
      )
      fetched.mockRestore()
      return requests
    },
    again: async (step: () => void) => {
      step()
      // It goes in turn.
      await acts.do([])
    },
  }
}

const fill = async (plants: readonly NewPlant[]): Promise<void> => {
  for (let at = 0; at < plants.length; at += 500) await create(daemon, plants.slice(at, at + 500))
}
const ids = () => storedPlants(database).map(({ id }) => id)

describe('a deletion', () => {
  test('takes three requests for 2500 plants, and can be undone and redone', async () => {
    const plants = numbered(10_000, 2500)
    await fill(plants)
    const { acts, requestsOf, again } = actsOn(await openList(daemon))
    const requests = await requestsOf(() => acts.do(plants.map(deletionOf)))
    expect(requests).toEqual(Array(3).fill('POST /plants/batch-delete'))
    expect(ids()).toEqual([])
    await again(acts.undo)
    expect(ids()).toEqual(plants.map(({ id }) => id))
    await again(acts.redo)
    expect(ids()).toEqual([])
  })

  test('leaves a plant that another has changed, names it and shows it', async () => {
    const plants = numbered(1, 5)
    await create(daemon, plants)
    const opened = await openList(daemon)
    const { acts, sentence } = actsOn(opened)
    await daemon.fetch('/plants/2', { method: 'PATCH', json: { tag: 'theirs' } })
    await daemon.fetch('/plants/3', { method: 'DELETE' })
    await acts.do(plants.slice(0, 4).map(deletionOf))

    expect(sentence()).toBe(
      'Deleted 2 plants; left out: plant 2 (someone changed it); Ctrl+Z undoes it',
    )
    expect(opened.list.rows.heldPlants()).toEqual([
      { id: 2n, name: 'Moss 1', tag: 'theirs' },
      { id: 5n, name: 'Moss 4' },
    ])
    expect(ids()).toEqual([2n, 5n])
  })

  test('removes the row of a plant that an earlier edit has just saved', async () => {
    await create(daemon, numbered(70, 2))
    const { list } = await openList(daemon)
    const saved = { id: 70n, name: 'edited' }
    const turns = new Turns()
    const acts = new Acts(list, createAnnouncer(), turns)
    void turns.take(async () => {
      await daemon.fetch('/plants/70', { method: 'PUT', json: { name: 'edited' } })
      list.put(saved)
    })
    await acts.do([deletionOf(saved)])
    expect(ids()).not.toContain(70n)
    expect(list.rows.plant(70n)).toBeUndefined()
    await acts.do([deletionOf({ id: 71n, name: 'Moss 1' })])
  })

  test('puts all plants back when it is refused, and sends nothing more', async () => {
    const plants = numbered(3000, 2000)
    const token = await createToken('reader', '--scope', 'read')
    const opened = await openList(daemon, token)
    const { acts, requestsOf, sentence } = actsOn(opened)
    const before = storedPlants(database)
    const requests = await requestsOf(() => acts.do(plants.map(deletionOf)))

    expect(requests).toHaveLength(1)
    expect(sentence()).toContain('(this token is read-only; use a write token)')
    expect(opened.list.rows.heldPlants()).toHaveLength(before.length + plants.length)
    expect(storedPlants(database)).toEqual(before)
    expect(acts.doneActs.value).toEqual([])
  })

  test('is split if it exceeds one request; a plant too long for a batch goes alone', async () => {
    const long = { id: 100n, name: 'x'.repeat(2048 - '{"id":100,"name":""}'.length) }
    const plants = [...numbered(1, 90), long]
    await create(narrow.daemon, plants)
    const { acts, requestsOf } = actsOn(await openList(narrow.daemon))
    const requests = await requestsOf(() => acts.do(plants.map(deletionOf)))

    expect(requests.filter((request) => request.startsWith('POST')).length).toBeGreaterThan(2)
    expect(requests.at(-1)).toBe('DELETE /plants/100')
    expect(storedPlants(narrow.database)).toEqual([])
  })
})

describe('a tag of several plants', () => {
  test('is undone but for what a colleague has changed since, who is named; other fields are theirs', async () => {
    const plants = numbered(500, 4)
    await create(daemon, plants)
    const { acts, again } = actsOn(await openList(daemon))
    await acts.do(plants.map((plant) => taggingOf(plant, 'shade')))
    const tags = () =>
      storedPlants(database)
        .filter(({ id }) => id >= 500n && id < 504n)
        .map(({ name, tag }) => `${name} ${tag}`)
    expect(tags()).toEqual(['Moss 0 shade', 'Moss 1 shade', 'Moss 2 shade', 'Moss 3 shade'])
    await daemon.fetch('/plants/501', { method: 'PATCH', json: { tag: 'theirs' } })
    await daemon.fetch('/plants/502', { method: 'PATCH', json: { name: 'theirs' } })
    await again(acts.undo)
    expect(tags()).toEqual(['Moss 0 null', 'Moss 1 theirs', 'theirs null', 'Moss 3 null'])
    await again(acts.redo)
    expect(tags()).toEqual(['Moss 0 shade', 'Moss 1 theirs', 'theirs shade', 'Moss 3 shade'])
  })
})

test('a cell that is edited right after a change of many is saved after it, without a conflict', async () => {
  const plant = { id: 700n, name: 'Moss 0' }
  await create(daemon, [plant])
  const { list, ...opened } = await openList(daemon)
  const { acts, turns } = actsOn({ list, ...opened })
  const saves = new Saves(list, turns, () => {})
  void acts.do([{ id: 700n, before: plant, after: { ...plant, name: 'pasted' } }])
  // As a cell is edited: from the text that is shown, which is read again before it is saved.
  const form = new PlantForm(list, { plant: list.rows.plant(700n) ?? plant, etag: undefined })
  form.reading = turns.whenDone.then(async () => (await form.readAgain()) !== null)
  form.draft.texts.name.value = 'pasted, then typed'

  expect(await saves.save(form)).toBeTrue()
  expect(storedPlants(database).at(-1)).toMatchObject({ id: 700n, name: 'pasted, then typed' })
})

test('a text that is not saved stays in its row while others change the plant', async () => {
  const plant = { id: 800n, name: 'Moss 0' }
  await create(daemon, [plant])
  const { list, ...opened } = await openList(daemon)
  const { turns } = actsOn({ list, ...opened })
  const saves = new Saves(list, turns, () => {})
  const form = new PlantForm(list, { plant, etag: undefined })
  form.draft.texts.name.value = 'typed'
  saves.refusedForms.value = [form]

  list.put(plant)
  list.changeAll(new Map([[800n, { name: 'Moss 0', tag: 'theirs' }]]))

  expect(list.rows.plant(800n)).toEqual({ id: 800n, name: 'typed', tag: 'theirs' })
})

test('says so if nothing is left to undo, or it cannot be undone', async () => {
  const { acts, sentence } = actsOn(await openList(daemon))
  const said: string[] = []
  acts.record({ what: 'the import of x.csv', steps: [], undoBarrier: 'it has too many plants' })
  for (const step of [acts.undo, acts.undo, acts.redo]) {
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

describe('at a disconnect in its midst', () => {
  test('an act sends nothing under the next token, which cannot undo it', async () => {
    const plants = numbered(20_000, 1500)
    await fill(plants)
    const { session, list } = await openList(daemon)
    const turns = new Turns()
    const acts = new Acts(list, createAnnouncer(), turns)
    const before = ids().length
    using held = holdNextAnswer()
    const acting = [
      acts.do(plants.map(deletionOf)),
      acts.do([deletionOf(plants[1499] as NewPlant)]),
    ]
    await held.answered
    session.disconnect()
    turns.forget()
    acts.clear()
    await session.connect(TOKEN)
    held.release()

    expect(await Promise.all(acting)).toEqual([[], []])
    expect(acts.doneActs.value).toEqual([])
    expect(ids()).toHaveLength(before - 1000)
  })

  test('a save and those after it are over', async () => {
    await create(daemon, numbered(80, 2))
    const { session, list } = await openList(daemon)
    const steps: unknown[] = []
    const saves = new Saves(list, new Turns(), (step) => steps.push(step))
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
