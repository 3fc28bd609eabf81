// Creates plants, and explains those that were refused.

import {
  type BatchOutcome,
  type Client,
  ClientError,
  ERRORS,
  type Failure,
  type NewPlant,
  type Result,
} from '../../client/client.ts'
import type { Session } from './session.ts'
import { TEXTS } from './texts.ts'

/** Sums the outcomes of all requests. Throws a ClientError if it cannot continue. */
async function createAll<P extends NewPlant>(
  client: Client,
  plants: readonly P[],
  signal: AbortSignal,
): Promise<BatchOutcome<P>> {
  let total: BatchOutcome<P> = { created: 0, known: 0, refused: [] }
  for await (const { created, known, refused } of client.createAll(plants, { signal })) {
    total = {
      created: total.created + created,
      known: total.known + known,
      refused: [...total.refused, ...refused],
    }
  }
  return total
}

/** The result of several requests, with retries. `send` throws a ClientError if it cannot continue. */
export const persistRequests = <T>(
  session: Session,
  send: (client: Client) => Promise<T>,
  signal: AbortSignal,
) =>
  session.persist(async (client): Promise<Result<T>> => {
    try {
      return { ok: true, value: await send(client) }
    } catch (error) {
      if (error instanceof ClientError) return error.failure
      throw error
    }
  }, signal)

/** Creates plants, with retries: a plant that is sent twice counts as already stored. */
export const createPlants = <P extends NewPlant>(
  session: Session,
  plants: readonly P[],
  signal: AbortSignal,
) => persistRequests(session, (client) => createAll(client, plants, signal), signal)

/** The reason that a whole group was refused. */
export const groupRefusal = ({ error, message }: Failure): string =>
  error === ERRORS['disk full'] ? 'the disk is full' : message

/** The error of a plant that was sent alone in a batch. */
export const explainRefusal = ({ id }: NewPlant, { error, message }: Failure): string => {
  if (error === ERRORS.taken) return `plant ${id} is stored with another ${TEXTS.join(' or ')}`
  const text = message.replace('nothing was created: ', '').replace(/^plants\[0\](?:, |\.)/, '')
  return text.includes(String(id)) ? text : `id ${id}: ${text}`
}
