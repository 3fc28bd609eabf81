// The route of the tags.

import type { TagQuery } from '../../plant/plants'
import type { Store } from '../../store'
import { addNextLink } from '../answers/answer'
import type { AnswerBudget } from '../answers/answer-budget'
import { queryOf } from '../elysia'
import type { App } from '../request-context'
import { answers } from './describe'
import { TagList, TagPage } from './schemas'

type TagDeps = {
  readonly store: Pick<Store, 'listTags'>
  readonly answerBudget: AnswerBudget
}

/** A page of tags whose `next` is never empty: a loop that tests for a value would end early. */
async function readPage(store: TagDeps['store'], query: TagQuery, signal: AbortSignal) {
  const page = await store.listTags(query, signal)
  return page.next === '' ? store.listTags({ ...query, limit: 2 }, signal) : page
}

const NEXT_PAGE_LINK = {
  nextPage: {
    operationId: 'listTags',
    description: 'List the next page.',
    parameters: { after: '$response.body#/next' },
  },
}

/** `GET /tags`: each tag with its number of plants. */
export const tags =
  ({ store, answerBudget }: TagDeps) =>
  (app: App) =>
    app.get(
      '/tags',
      async ({ request, query: { limit, after } }) => {
        const page = await readPage(store, { limit: Number(limit), after }, request.signal)
        const answer = answerBudget.answerZipped(request, JSON.stringify(page))
        if (page.next !== null) addNextLink(answer, { limit: String(limit), after: page.next })
        return answer
      },
      {
        ...queryOf(TagList),
        detail: {
          operationId: 'listTags',
          summary: 'List tags',
          description:
            'Each tag with its exact number of plants, page by page, in the order of code points. Plants without a tag are not counted; the empty tag is one.',
          refusals: ['busy'],
          answers: () =>
            answers(200, 'A page of tags.', TagPage, {
              example: { tags: [{ tag: 'aroid', plants: 1 }], next: 'aroid' },
              headers: { link: '<?limit=1&after=aroid>; rel="next"' },
              links: NEXT_PAGE_LINK,
            }),
        },
      },
    )
