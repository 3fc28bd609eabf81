// Prints the held plants as a plain table, as the one on screen has only the rows in view.

import { countPlants } from '../counts.ts'
import type { PlantList } from '../list/plant-list.ts'
import { textOf } from '../query.ts'
import { labelOf, TEXTS } from '../texts.ts'

const COLUMNS = [...TEXTS.map(labelOf), 'ID']

function element(name: string, text: string, inner: readonly Node[] = []): HTMLElement {
  const parent = document.createElement(name)
  parent.textContent = text
  // One at a time: a call takes only some ten thousand arguments.
  for (const node of inner) parent.append(node)
  return parent
}

function tableOf(list: PlantList): HTMLElement {
  const plants = list.rows.heldPlants()
  const query = textOf(list.visibleQuery)
  const count = countPlants(plants.length)
  const what = query === '' ? count : `${count} found by ${query}`
  const head = element(
    'tr',
    '',
    COLUMNS.map((name) => element('th', name)),
  )
  const rows = plants.map((plant) => {
    const cells = [...TEXTS.map((text) => plant[text] ?? ''), String(plant.id)]
    return element(
      'tr',
      '',
      cells.map((text) => element('td', text)),
    )
  })
  const caption = list.rows.isComplete.value
    ? what
    : `The first ${what}; there are more, which Print in the menu reads`
  return element('table', '', [
    element('caption', caption),
    element('thead', '', [head]),
    element('tbody', '', rows),
  ])
}

/** Adds the table before the browser prints, and removes it afterwards. */
export function preparePrinting(list: PlantList): () => void {
  let table: HTMLElement | undefined
  function removeTable(): void {
    table?.remove()
  }
  function addTable(): void {
    removeTable()
    table = tableOf(list)
    table.className = 'print'
    document.body.append(table)
  }
  addEventListener('beforeprint', addTable)
  addEventListener('afterprint', removeTable)
  return () => {
    removeEventListener('beforeprint', addTable)
    removeEventListener('afterprint', removeTable)
    removeTable()
  }
}

/** Reads all plants of the search, unless they are too many, and prints them. */
export async function printAll(list: PlantList): Promise<void> {
  if (!list.rows.isTooLong.value) await list.readAll()
  window.print()
}
