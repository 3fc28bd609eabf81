// The console with the keyboard alone: `bun run test:browser`.
import { beforeEach, describe, expect } from 'bun:test'
import { numbered, ownTasks, test } from './browsers'
import * as labels from './labels'

const { daemon, folder, person, openWith } = ownTasks()

const PLANTS = 800
const TABLE = '[role=grid]'

beforeEach(async () => {
  await openWith([...numbered(20, 'fern'), ...numbered(PLANTS).slice(20)])
  await person.focus(labels.table)
})

test('text typed after Enter and F2 goes into the form; a space in between presses nothing', async () => {
  await person.press('Enter')
  await person.find(labels.heading('plant 1'))
  await person.isIn('h2')
  await person.press(' ')
  await person.find(labels.heading('plant 1'))
  await person.press('F2')
  await person.find(labels.heading('Edit plant 1'))
  await person.type('!')

  expect(await person.textOf(labels.name)).toContain('!')
})

describe('beside an open plant', () => {
  beforeEach(async () => {
    await person.press('Enter')
    await person.find(labels.heading('plant 1'))
  })

  test('the arrow keys open the next and the previous plant', async () => {
    await person.press('ArrowDown')
    await person.find(labels.heading('plant 2'))
    await person.press('ArrowUp')
    await person.find(labels.heading('plant 1'))
  })

  test('/ focuses the search, and n adds a plant', async () => {
    await person.press('/')
    await person.isIn('#search')
    await person.focus(labels.control('Edit'))
    await person.press('n')
    await person.find(labels.heading('Add a plant'))
  })
})

describe('a selection', () => {
  test('with Shift has every row between two, loaded or not', async () => {
    await person.press(' ')
    await person.find(labels.selected('1 selected'))
    await person.press('End')
    await person.find(labels.row(String(PLANTS)))
    await person.press('Shift+ ')

    await person.find(labels.selected(`All ${PLANTS} selected`))
  })

  test('of all rows is made by Ctrl+A or the box in the head, which also clears it', async () => {
    await person.press('Control+a')
    await person.find(labels.selected(`All ${PLANTS} selected`))
    await person.click(labels.boxOfAll)
    await person.lose(labels.selected(`All ${PLANTS} selected`))
    await person.click(labels.boxOfAll)
    await person.find(labels.selected(`All ${PLANTS} selected`))
  })
})

describe('the focus stays in the page after', () => {
  const tick = async (): Promise<void> => {
    await person.press(' ')
    await person.find(labels.selected('1 selected'))
  }
  const edit = async (): Promise<void> => {
    await person.press('F2')
    await person.find(labels.heading('Edit plant 1'))
    await person.type('!')
  }
  // Clicks with the mouse, because no key presses a button in a headless Firefox.
  const press = (label: string): Promise<void> => person.click(labels.control(label))

  test('Clear', async () => {
    await tick()
    await press('Clear')
    await person.isIn(TABLE)
  })

  test('Set tag, and Undo', async () => {
    await tick()
    await person.focus({ kind: 'input', name: 'Tag for all of them' })
    await person.type('x')
    await press('Set tag')
    await person.isIn(TABLE)
    await press('Undo the tag of plant 1')
    await person.isIn(TABLE)
  })

  test('Delete', async () => {
    await tick()
    await person.click(labels.deleteAll)
    await person.isIn(TABLE)
    await press('Undo the deletion of plant 1')
    await person.isIn(TABLE)
  })

  test('the tag of a row, the × of a chip, and Show all plants', async () => {
    await person.click(labels.tagOf('1', 'fern'))
    await person.find(labels.control('Remove Tag fern'))
    await person.isIn(':not(body)')
    await press('Remove Tag fern')
    await person.isIn('#search')
    await person.click(labels.tagOf('2', 'fern'))
    await press('Show all plants')
    await person.isIn('#search')
  })

  test('Keep editing', async () => {
    await edit()
    await person.press('Escape')
    await press('Keep editing')
    await person.isIn('#name')
  })

  test('Use theirs', async () => {
    await edit()
    await daemon.fetch('/plants/1', { method: 'PATCH', json: { name: 'x' } })
    await press('Save')
    await press('Use theirs')
    await person.isIn('#name')
  })

  test('closing an import', async () => {
    const file = folder.file('plants.csv')
    await Bun.write(file, 'id,name,tag\n1,plant 1,fern\n')
    await person.chooseFile(labels.file, file)
    await press('Close')
    await person.isIn(TABLE)
  })

  test('removing the samples', async () => {
    await daemon.fetch('/plants/1', {
      method: 'PUT',
      json: { name: 'Swiss cheese plant', tag: 'houseplant' },
    })
    await person.click(labels.control('Reload'))
    await press('Remove them')
    await person.isIn(TABLE)
  })
})
