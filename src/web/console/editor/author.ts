import type { Change } from '../../../client/client.ts'

/** The token that made a change, or the command. */
export const authorOf = ({ token, request }: Change): string => token ?? request ?? 'a command'
