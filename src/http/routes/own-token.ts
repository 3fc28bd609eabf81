// The route of the request's own token.

import { RequestError } from '../../errors'
import type { Store } from '../../store'
import { answerJson } from '../answers/answer'
import type { App } from '../request-context'
import { answers } from './describe'
import { OwnToken } from './schemas'

const EXAMPLE = {
  name: 'laptop',
  scope: 'write',
  expires: '2030-05-01T12:00:00.000Z',
  changeLog: true,
}

/** `GET /token` returns a client's rights, so that it need not try. */
export const ownToken = (store: Pick<Store, 'changeLog'>) => (app: App) =>
  app.get(
    '/token',
    ({ token }) => {
      if (!token) throw new RequestError('no credentials')
      const { name, scope, expiresAt } = token
      const expires = expiresAt === null ? {} : { expires: new Date(expiresAt).toISOString() }
      return answerJson({
        name,
        scope,
        ...expires,
        changeLog: store.changeLog !== undefined,
      })
    },
    {
      detail: {
        operationId: 'readToken',
        summary: 'Read the rights of the token',
        description:
          'The name, the scope and the expiry of the token that is sent, and whether there is a change log to read. A read-only service returns the scope of the token too: `readOnly` in GET /status says that it takes no changes.',
        answers: () => answers(200, 'The token.', OwnToken, { example: EXAMPLE }),
      },
    },
  )
