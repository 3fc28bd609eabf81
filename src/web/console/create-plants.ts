// Creates plants, and explains those that were refused.

import {
  type BatchOutcome,
  ERRORS,
  type Failure,
  type NewPlant,
  type Result,
} from '../../client/client.ts'
import { idAfter } from './int64.ts'
import type { Session } from './session.ts'
import { TEXTS } from './texts.ts'

/** Creates plants, with retries: a plant that is sent twice counts as already stored. */
export const createPlants = <P extends NewPlant>(
  session: Session,
  plants: readonly P[],
  signal?: AbortSignal,
) =>
  session.persist(async (client): Promise<Result<BatchOutcome<P>>> => {
    const outcomes = await Array.fromAsync(client.createAll(plants, { signal }))
    const sumOf = (count: 'created' | 'known') =>
      outcomes.reduce((sum, outcome) => sum + outcome[count], 0)
    const refused = outcomes.flatMap((outcome) => outcome.refused)
    return { ok: true, value: { created: sumOf('created'), known: sumOf('known'), refused } }
  }, signal)

/** The id after the largest one, stored or pending, null if there is none, undefined if it cannot be read. */
export async function nextFreeId(session: Session, pendingIds: readonly bigint[] = []) {
  const last = await session.persist((client) => client.listPlants({ order: 'desc', limit: 1 }))
  if (!last.ok) return undefined
  return idAfter([...pendingIds, ...last.value.plants.map(({ id }) => id)])
}

/** The reason that a whole group was refused. */
export const groupRefusal = ({ error, message }: Failure): string =>
  error === ERRORS['disk full'] ? 'the disk is full' : message

/** The error of a plant that was sent alone in a batch. */
export const explainRefusal = ({ id }: NewPlant, { error, message }: Failure): string => {
  if (error === ERRORS.taken) return `plant ${id} is stored with another ${TEXTS.join(' or ')}`
  const text = message.replace('nothing was created: ', '').replace(/^plants\[0\](?:, |\.)/, '')
  return text.includes(String(id)) ? text : `id ${id}: ${text}`
}
