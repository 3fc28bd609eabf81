import type { NewPlant } from '../../../client/client.ts'
import type { PlantList } from '../list/plant-list.ts'
import { creationOf } from '../undo/step.ts'

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
export const SAMPLE_STEPS = SAMPLES.map(creationOf)

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
      There are sample plants to look around.{' '}
      <button type="button" class="quiet inline" onClick={() => onDelete(unchangedSamples)}>
        Remove them
      </button>
    </p>
  )
}
