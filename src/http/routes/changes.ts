// The routes of the change log.

import type { ChangeLog, ChangeLogEntry } from '../../change-log/change-log'
import { RequestError } from '../../errors'
import { toJson } from '../../plant/json'
import type { Int64 } from '../../plant/plant'
import type { Store } from '../../store'
import { readWeights } from '../answers/accept-encoding'
import type { AnswerBudget } from '../answers/answer-budget'
import { queryOf } from '../elysia'
import { EVENTS } from '../feed/events'
import type { Followers } from '../feed/followers'
import type { App } from '../request-context'
import { answers } from './describe'
import { ChangeList, ChangePage, HistoryList, HistoryPage, PlantPath } from './schemas'

const EXAMPLE = {
  cursor: '5d1be2a07c93f648-17',
  at: '2030-05-01T12:00:00.000Z',
  action: 'patch',
  id: 1,
  before: { name: 'Monstera' },
  after: { name: 'Monstera deliciosa', tag: 'aroid' },
  token: 'greenhouse',
  address: '192.0.2.7',
  request: null,
}

const REFUSALS = ['no change log', 'cursor expired', 'busy'] as const

function changeLogOf({ changeLog }: Pick<Store, 'changeLog'>): ChangeLog {
  if (!changeLog) throw new RequestError('no change log')
  return changeLog
}

// `Accept: */*` selects JSON (RFC 9110, section 12.5.1).
function prefersEvents(accept: string): boolean {
  const weights = readWeights(accept)
  const events = weights.get(EVENTS) ?? 0
  return events > 0 && events >= (weights.get('application/json') ?? 0)
}

const toText = (entries: readonly ChangeLogEntry[], next: string | null): string =>
  JSON.stringify({ changes: entries.map(toJson), next })

type ChangeDeps = {
  readonly store: Store
  readonly answerBudget: AnswerBudget
  readonly followers: Followers
}

type Limits = { readonly limit?: string | number | undefined; readonly after?: string | undefined }

export const changes =
  ({ store, answerBudget, followers }: ChangeDeps) =>
  (app: App) =>
    app
      .get(
        '/plants/changes',
        async ({ request, headers, query, token }) => {
          const changeLog = changeLogOf(store)
          if (token && prefersEvents(headers.accept ?? ''))
            return followers.follow(
              changeLog,
              headers['last-event-id'] || query.after,
              request,
              token,
            )
          const { entries, next } = await changeLog.read({
            limit: Number(query.limit),
            after: query.after,
            signal: request.signal,
          })
          return answerBudget.answerZipped(request, toText(entries, next))
        },
        {
          ...queryOf(ChangeList),
          detail: {
            operationId: 'listChanges',
            summary: 'List or follow changes',
            description:
              'The oldest first. With `Accept: text/event-stream`, a stream that stays open: the id of an event is its cursor, its name the action, its data the change; `Last-Event-ID` wins over `after`.',
            refusals: REFUSALS,
            answers: () => {
              const { 200: page } = answers(200, 'Changes.', ChangePage, {
                example: { changes: [EXAMPLE], next: EXAMPLE.cursor },
              })
              const data = `id: ${EXAMPLE.cursor}\nevent: patch\ndata: ${JSON.stringify(EXAMPLE)}\n\n`
              const stream = { [EVENTS]: { schema: { type: 'string' }, example: data } }
              return { 200: { ...page, content: { ...page?.content, ...stream } } }
            },
          },
        },
      )
      .use(histories({ store, answerBudget }))

/** The routes of changes, newest first. */
function histories({ store, answerBudget }: Omit<ChangeDeps, 'followers'>) {
  async function answerHistory(request: Request, id: Int64 | null, { limit, after }: Limits) {
    const options = { limit: Number(limit), after, signal: request.signal }
    const { entries, next = null } = await changeLogOf(store).history(id, options)
    return answerBudget.answerZipped(request, toText(entries, next))
  }
  const describe = (subject: string) =>
    answers(200, `Changes of ${subject}.`, HistoryPage, {
      example: { changes: [EXAMPLE], next: null },
    })

  return (app: App) =>
    app
      .get('/plants/history', ({ request, query }) => answerHistory(request, null, query), {
        ...queryOf(HistoryList),
        detail: {
          operationId: 'listHistory',
          summary: 'List changes, newest first',
          description: 'The newest first, as far back as the change log goes.',
          refusals: REFUSALS,
          answers: () => describe('all plants'),
        },
      })
      .get(
        '/plants/:id/history',
        ({ request, params: { id }, query }) => answerHistory(request, BigInt(id), query),
        {
          params: PlantPath,
          ...queryOf(HistoryList),
          detail: {
            operationId: 'history',
            summary: 'List the changes of a plant',
            description:
              'The newest first, as far back as the change log goes; also of a deleted plant.',
            refusals: REFUSALS,
            answers: () => describe('the plant'),
          },
        },
      )
}
