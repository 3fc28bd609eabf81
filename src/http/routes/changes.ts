// The routes of the change log.

import type { Static } from '@sinclair/typebox'
import type { ChangeLog, ChangeLogEntry } from '../../change-log/change-log'
import { toJson } from '../../plant/json'
import type { Int64 } from '../../plant/plant'
import { RequestError } from '../../request-errors'
import { readWeights } from '../answers/accept-encoding'
import { readId, readQuery } from '../check'
import type { App } from '../exchange'
import { EVENTS } from '../feed/followers'
import type { RouteDeps } from '../route-deps'
import {
  ChangeEvents,
  ChangeList,
  ChangePage,
  DEFAULT_LIMIT,
  HistoryList,
  HistoryPage,
} from './schemas'

// `Accept: */*` selects JSON (RFC 9110, section 12.5.1).
function prefersEvents(accept: string): boolean {
  const weights = readWeights(accept)
  const events = weights.get(EVENTS) ?? 0
  return events > 0 && events >= (weights.get('application/json') ?? 0)
}

type Query = Static<typeof ChangeList>
type Page = { readonly entries: readonly ChangeLogEntry[]; readonly next?: string | null }

const optionsOf = ({ limit, after }: Query, { signal }: Request) => ({
  limit: Number(limit ?? DEFAULT_LIMIT),
  after,
  signal,
})

export function changes({ store, answers, followers }: RouteDeps) {
  function changeLogOf(): ChangeLog {
    if (!store.changeLog) throw new RequestError('no change log')
    return store.changeLog
  }

  function answerPage(request: Request, { entries, next = null }: Page): Response {
    const text = JSON.stringify({ changes: entries.map(toJson), next })
    return answers.answerZipped(request, text)
  }

  async function answerHistory(request: Request, id: Int64 | null): Promise<Response> {
    const options = optionsOf(readQuery(request, HistoryList), request)
    return answerPage(request, await changeLogOf().history(id, options))
  }

  return (app: App) =>
    app
      .get(
        '/plants/changes',
        async ({ request, headers, exchange: { token } }) => {
          const query = readQuery(request, ChangeList)
          const changeLog = changeLogOf()
          if (!token || !prefersEvents(headers.accept ?? ''))
            return answerPage(request, await changeLog.read(optionsOf(query, request)))
          const after = headers['last-event-id'] || query.after
          return await followers.follow(changeLog, after, request, token)
        },
        {
          detail: {
            operationId: 'listChanges',
            summary: 'List or follow changes',
            description:
              'With `Accept: text/event-stream`, a stream that stays open: the id of an event is its cursor, its name the action, its data the change; `Last-Event-ID` wins over `after`.',
            schemas: () => ({ query: ChangeList, 200: [ChangePage, ChangeEvents] }),
          },
        },
      )
      .get('/plants/history', ({ request }) => answerHistory(request, null), {
        detail: {
          operationId: 'listHistory',
          summary: 'List changes, newest first',
          schemas: () => ({ query: HistoryList, 200: HistoryPage }),
        },
      })
      .get('/plants/:id/history', ({ request, params }) => answerHistory(request, readId(params)), {
        detail: {
          operationId: 'history',
          summary: 'List the changes of a plant',
          description: 'Even of a deleted plant.',
          schemas: () => ({ query: HistoryList, 200: HistoryPage }),
        },
      })
}
