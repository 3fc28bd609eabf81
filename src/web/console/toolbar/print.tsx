// Prints the held plants as a plain table, as the one on screen has only the rows in view.

import { render } from 'preact'
import { countPlants } from '../counts.ts'
import type { PlantList } from '../list/plant-list.ts'
import { textOf } from '../query.ts'
import { labelOf, TEXTS } from '../texts.ts'

function PrintedRows({ list }: { readonly list: PlantList }) {
  const plants = list.rows.heldPlants()
  const query = textOf(list.visibleQuery)
  const count = countPlants(plants.length)
  const what = query === '' ? count : `${count} found by ${query}`
  return (
    <>
      <caption>
        {list.rows.isComplete.value
          ? what
          : `The first ${what}; there are more, which Print in the menu reads`}
      </caption>
      <thead>
        <tr>
          {[...TEXTS.map(labelOf), 'ID'].map((name) => (
            <th key={name}>{name}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {plants.map((plant) => (
          <tr key={plant.id}>
            {TEXTS.map((text) => (
              <td key={text}>
                <bdi>{plant[text]}</bdi>
              </td>
            ))}
            <td>{String(plant.id)}</td>
          </tr>
        ))}
      </tbody>
    </>
  )
}

/** Adds the table before the browser prints, and removes it afterwards. */
export function preparePrinting(list: PlantList): () => void {
  const table = document.createElement('table')
  table.className = 'print'
  function addTable(): void {
    render(<PrintedRows list={list} />, table)
    document.body.append(table)
  }
  function removeTable(): void {
    table.remove()
    render(null, table)
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
