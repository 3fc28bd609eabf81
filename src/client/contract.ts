// The names of the service. Written by tools/docs.ts.

/** The texts that a plant may have besides its name: `tag` is its type. */
export const OPTIONAL_TEXTS = ['tag'] as const

/** The number of each error of the service. */
export const ERRORS = {
  'not JSON': 40001,
  invalid: 40002,
  'no credentials': 40101,
  'invalid token': 40102,
  'read-only token': 40301,
  'read-only service': 40302,
  'no such path': 40401,
  'no such plant': 40402,
  'no change log': 40403,
  'method not allowed': 40501,
  'stored already': 40901,
  taken: 40902,
  'cursor expired': 41001,
  'precondition failed': 41201,
  'too large': 41301,
  'unsupported type': 41501,
  'too many requests': 42901,
  unexpected: 50001,
  busy: 50301,
  'storage failed': 50302,
  'disk full': 50701,
} as const

/** Every error number that the service documents. */
export type KnownError = (typeof ERRORS)[keyof typeof ERRORS]
