import type { NewPlant } from '../../client/client.ts'
import type { Console } from './console.ts'

const GROUPS = {
  houseplant: ['Swiss cheese plant', 'Snake plant', 'Spider plant'],
  succulent: ['Aloe vera', 'Jade plant', 'Christmas cactus'],
  herb: ['Basil', 'Rosemary', 'Peppermint'],
  flower: ['Lavender', 'Sunflower', 'Climbing rose'],
} as const

const SAMPLES: readonly NewPlant[] = Object.entries(GROUPS)
  .flatMap(([tag, names]) => names.map((name) => ({ name, tag })))
  .map((plant, at) => ({ id: BigInt(at + 1), ...plant }))

/** Adds twelve plants to an empty store, to look around with. */
export async function addSamples({ session, list, say }: Console): Promise<void> {
  const added = await session.call((client) => client.createPlants(SAMPLES))
  if (!added.ok) return say(`The sample plants were not added: ${added.message}`)
  list.refresh()
}

/** Says which plants are samples, as long as they are as they were added, and removes them. */
export function Samples({ console: { list, session, pending } }: { readonly console: Console }) {
  list.version.value
  const left = SAMPLES.filter(({ id, name, tag }) => {
    const plant = list.plant(id)
    return plant?.name === name && plant.tag === tag
  })
  if (left.length === 0 || session.isReadOnly.value) return null
  return (
    <p class="samples">
      {left.length === 1 ? 'One sample plant' : `${left.length} sample plants`} to look around.{' '}
      <button type="button" class="quiet inline" onClick={() => void pending.remove(left)}>
        Remove {left.length === 1 ? 'it' : 'them'}
      </button>
    </p>
  )
}
