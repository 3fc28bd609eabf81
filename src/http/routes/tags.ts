// The route of the tags.

import type { TagQuery } from '../../plant/plants'
import type { Store } from '../../store'
import { addNextLink } from '../answers/answer'
import { queryOf } from '../elysia'
import type { App } from '../exchange'
import type { RouteDeps } from '../route-deps'
import { TagList, TagPage } from './schemas'

/** A page of tags whose `next` is never empty: a loop that tests for a value would end early. */
async function readPage(store: Store, query: TagQuery, signal: AbortSignal) {
  const page = await store.listTags(query, signal)
  return page.next === '' ? store.listTags({ ...query, limit: 2 }, signal) : page
}

/** `GET /tags`: each tag with its number of plants. */
export const tags =
  ({ store, answers }: RouteDeps) =>
  (app: App) =>
    app.get(
      '/tags',
      async ({ request, query: { limit, after } }) => {
        const page = await readPage(store, { limit: Number(limit), after }, request.signal)
        const answer = answers.answerZipped(request, JSON.stringify(page))
        if (page.next !== null) addNextLink(answer, request, page.next)
        return answer
      },
      {
        ...queryOf(TagList),
        detail: {
          operationId: 'listTags',
          summary: 'List tags',
          description: 'Plants without a tag are not counted; the empty tag is one.',
          headers: ['link'],
          answers: () => ({ 200: TagPage }),
        },
      },
    )
