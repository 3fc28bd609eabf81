// The route of the tags.

import { queryOf } from '../elysia'
import type { App } from '../exchange'
import type { RouteDeps } from '../route-deps'
import { TagList, TagPage } from './schemas'

/** `GET /tags`: each tag with its number of plants. */
export const tags =
  ({ store, respondZipped }: RouteDeps) =>
  (app: App) =>
    app.get(
      '/tags',
      async ({ request, query: { limit, after } }) => {
        let page = await store.listTags({ limit: Number(limit), after }, request.signal)
        // Between the empty tag and U+0001 there is no text but the empty one, and a loop that tests `next` for a value
        // would end early: the page has both.
        if (page.next === '') page = await store.listTags({ limit: 2, after }, request.signal)
        return respondZipped(request, JSON.stringify(page), page.next)
      },
      {
        ...queryOf(TagList),
        detail: {
          operationId: 'listTags',
          summary: 'List tags',
          description: 'Plants without a tag are not counted; the empty tag is one.',
          headers: ['link'],
          successes: () => ({ 200: TagPage }),
        },
      },
    )
