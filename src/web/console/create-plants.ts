// Creates plants, and explains those that were refused.

import {
  type BatchOutcome,
  type Client,
  ERRORS,
  type Failure,
  type NewPlant,
  type Result,
} from '../../client/client.ts'
import type { Session } from './session.ts'
import { TEXTS } from './texts.ts'

/** The outcome of several requests. */
export type SendOutcome<P extends NewPlant> = BatchOutcome<P> & { readonly replaced: number }

/** Sums the outcomes of several requests, with retries. `send` throws a ClientError if it cannot continue. */
export const persistRequests = <P extends NewPlant>(
  session: Session,
  send: (client: Client) => AsyncIterable<BatchOutcome<P> | SendOutcome<P>>,
  signal: AbortSignal,
) =>
  session.persist(async (client): Promise<Result<SendOutcome<P>>> => {
    let total: SendOutcome<P> = { created: 0, replaced: 0, known: 0, refused: [] }
    for await (const outcome of send(client)) {
      total = {
        created: total.created + outcome.created,
        replaced: total.replaced + ('replaced' in outcome ? outcome.replaced : 0),
        known: total.known + outcome.known,
        refused: [...total.refused, ...outcome.refused],
      }
    }
    return { ok: true, value: total }
  }, signal)

/** Creates plants, with retries: a plant that is sent twice counts as already stored. */
export const createPlants = <P extends NewPlant>(
  session: Session,
  plants: readonly P[],
  signal: AbortSignal,
) => persistRequests(session, (client) => client.createAll(plants, { signal }), signal)

/** The reason that a whole group was refused. */
export const groupRefusal = ({ error, message }: Failure): string =>
  error === ERRORS['disk full'] ? 'the disk is full' : message

/** The error of a plant that was sent alone in a batch. */
export const explainRefusal = ({ id }: NewPlant, { error, message }: Failure): string => {
  if (error === ERRORS.taken) return `plant ${id} is stored with another ${TEXTS.join(' or ')}`
  const text = message.replace('nothing was created: ', '').replace(/^plants\[0\](?:, |\.)/, '')
  return text.includes(String(id)) ? text : `id ${id}: ${text}`
}
