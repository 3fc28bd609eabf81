import { BunAdapter } from 'elysia/adapter/bun'

const { composeHandler } = BunAdapter

/**
 * Bun's adapter for Elysia, with one of the lines changed that Elysia writes into the handlers that it compiles: the
 * parser `arrayBuffer` leaves a body unread until its route reads it. So refused credentials cost no memory; a parser
 * of one's own would have Elysia make a stream of each body first, a tenth of the instructions of a create.
 */
export const adapter = {
  ...BunAdapter,
  composeHandler: {
    ...composeHandler,
    parser: { ...composeHandler.parser, arrayBuffer: () => 'c.body=c.request\n' },
  },
}
