import type { NewPlant } from '../../../client/client.ts'
import type { PlantList } from '../list/plant-list.ts'
import { creationOf } from '../undo/step.ts'
import type { UndoHistory } from '../undo/undo-history.ts'

const GROUPS = {
  houseplant: ['Swiss cheese plant', 'Snake plant', 'Spider plant'],
  succulent: ['Aloe vera', 'Jade plant', 'Christmas cactus'],
  herb: ['Basil', 'Rosemary', 'Peppermint'],
  flower: ['Lavender', 'Sunflower', 'Climbing rose'],
} as const

const SAMPLES: readonly NewPlant[] = Object.entries(GROUPS)
  .flatMap(([tag, names]) => names.map((name) => ({ name, tag })))
  .map((plant, index) => ({ id: BigInt(index + 1), ...plant }))

/** Adds twelve sample plants to an empty store. */
export async function addSamples(list: PlantList, undoHistory: UndoHistory): Promise<void> {
  const outcome = await list.session.call((client) => client.createPlants(SAMPLES))
  if (!outcome.ok) return list.announce(`The sample plants were not added: ${outcome.message}`)
  list.refresh()
  list.announce('Added twelve sample plants; Ctrl+Z undoes it')
  undoHistory.record({ what: 'the twelve sample plants', steps: SAMPLES.map(creationOf) })
}

type SamplesProps = {
  readonly list: PlantList
  readonly onDelete: (plants: readonly NewPlant[]) => void
}

/** A notice about the sample plants that are unchanged, with a button to remove them. */
export function Samples({ list, onDelete }: SamplesProps) {
  list.rows.version.value
  const unchangedSamples = SAMPLES.filter(({ id, name, tag }) => {
    const plant = list.rows.plant(id)
    return plant?.name === name && plant.tag === tag
  })
  if (unchangedSamples.length === 0 || list.session.isReadOnly.value) return null
  return (
    <p class="hint">
      {unchangedSamples.length === 1
        ? 'One sample plant'
        : `${unchangedSamples.length} sample plants`}{' '}
      to look around.{' '}
      <button type="button" class="quiet inline" onClick={() => onDelete(unchangedSamples)}>
        Remove {unchangedSamples.length === 1 ? 'it' : 'them'}
      </button>
    </p>
  )
}
