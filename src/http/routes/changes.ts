// The routes of the change log.

import type { ChangeLog, ChangeLogEntry } from '../../change-log/change-log'
import { toJson } from '../../plant/json'
import { RequestError } from '../../request-errors'
import { JSON_TYPE } from '../bodies/body'
import { queryOf } from '../elysia'
import type { App } from '../exchange'
import { EVENTS } from '../feed/followers'
import { choose } from '../responses/accept'
import type { RouteDeps } from '../route-deps'
import {
  ChangeEvents,
  ChangeList,
  ChangePage,
  HistoryList,
  HistoryPage,
  PlantPath,
} from './schemas'

type Page = { readonly entries: readonly ChangeLogEntry[]; readonly next?: string | null }

const readOptionsOf = ({ limit, after }: HistoryList, { signal }: Request) => ({
  limit: Number(limit),
  after,
  signal,
})

/** The routes that list and follow changes, and those of the history, of all plants or of one. */
export function changes({ store, respondZipped, followers }: RouteDeps) {
  function changeLogOf(): ChangeLog {
    if (!store.changeLog) throw new RequestError('no change log')
    return store.changeLog
  }

  function pageResponse(request: Request, { entries, next = null }: Page): Response {
    const text = JSON.stringify({ changes: entries.map(toJson), next })
    return respondZipped(request, text)
  }

  return (app: App) =>
    app
      .get(
        '/plants/changes',
        async ({ request, headers, query, exchange: { token } }) => {
          const changeLog = changeLogOf()
          const isStream = choose(headers.accept, [JSON_TYPE, EVENTS]) === EVENTS
          if (!token || !isStream)
            return pageResponse(request, await changeLog.read(readOptionsOf(query, request)))
          const after = headers['last-event-id'] || query.after
          return await followers.follow(changeLog, after, request, token)
        },
        {
          ...queryOf(ChangeList),
          detail: {
            operationId: 'listChanges',
            summary: 'List or follow changes',
            description:
              'The oldest first. With `Accept: text/event-stream`, a stream that stays open: the id of an event is its cursor, its name the action, its data the change; `Last-Event-ID` wins over `after`.',
            successes: () => ({ 200: [ChangePage, ChangeEvents] }),
          },
        },
      )
      .get(
        '/plants/history',
        async ({ request, query }) =>
          pageResponse(request, await changeLogOf().history(null, readOptionsOf(query, request))),
        {
          ...queryOf(HistoryList),
          detail: {
            operationId: 'listHistory',
            summary: 'List changes, newest first',
            description: 'As far back as the change log goes.',
            successes: () => ({ 200: HistoryPage }),
          },
        },
      )
      .get(
        '/plants/:id/history',
        async ({ request, params: { id }, query }) =>
          pageResponse(
            request,
            await changeLogOf().history(BigInt(id), readOptionsOf(query, request)),
          ),
        {
          params: PlantPath,
          ...queryOf(HistoryList),
          detail: {
            operationId: 'history',
            summary: 'List the changes of a plant',
            description: 'The newest first; even of a deleted plant.',
            successes: () => ({ 200: HistoryPage }),
          },
        },
      )
}
