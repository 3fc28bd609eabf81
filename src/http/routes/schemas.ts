// The schemas of requests and answers, other than plants. `title` names a schema in the OpenAPI description.

// From TypeBox, like the schemas of plants: an integer of Elysia's also accepts text.
import * as t from '@sinclair/typebox'
import { ACTIONS, CURSOR, NOW } from '../../change-log/change-log'
import {
  closed,
  INT64_MAX,
  INT64_MIN,
  Int64,
  isText,
  listWords,
  Plant,
  PlantFields,
  PlantUpdate,
  parseInt64,
  Tag,
} from '../../plant/plant'
import { ORDERS, type Order } from '../../plant/plants'
import { SCOPES } from '../../token/token'

const DEFAULT_LIMIT = 100
const MAX_BATCH = 1000

t.TypeRegistry.Set('Int64Text', (_, text) => typeof text === 'string' && parseInt64(text) !== null)
// Elysia fills in the default as a number.
t.TypeRegistry.Set('Limit', (_, value) => /^([1-9]\d{0,2}|1000)$/.test(String(value)))

t.TypeRegistry.Set('Order', (_, value) => ORDERS.some((order) => order === value))
t.TypeRegistry.Set(
  'NameParts',
  (_, parts) =>
    Array.isArray(parts) &&
    parts.length <= MAX_PARTS &&
    parts.every((part) => isText(part) && [...part].length <= MAX_PART),
)
t.TypeRegistry.Set('Flag', (_, value) => typeof value === 'boolean')

// An int64 as text, as in a path or a query.
const DIGITS = { [t.Kind]: 'Int64Text', error: String(Int64.error) }

/** The path of a plant. */
export const PlantPath = t.Object(
  { id: t.Unsafe<string>({ ...Int64, ...DIGITS }) },
  { error: 'expected an id' },
)

/** A pattern of the numbers from 0 to a bound, given in digits; a shorter number may have leading zeros. */
function patternUpTo(bound: string): string {
  const smaller = [...bound].flatMap((digit, index) => {
    const rest = bound.length - index - 1
    return digit === '0' ? [] : [`${bound.slice(0, index)}[0-${Number(digit) - 1}][0-9]{${rest}}`]
  })
  return [`[0-9]{1,${bound.length - 1}}`, ...smaller, bound].join('|')
}

// A string, because JavaScript's numbers are exact only up to 2^53.
const Cursor = t.Unsafe<string>({
  ...DIGITS,
  title: 'Cursor',
  type: 'string',
  pattern: `^(${INT64_MIN}|-?(${patternUpTo(String(INT64_MAX))}))$`,
  description: 'The id at which a page ended, in digits. The next page begins after it.',
})

// Up to 1.8 kB in a URL. Searching for a longer one in a long name would be slow.
const MAX_PART = 200
// More words than a name has.
const MAX_PARTS = 10

const NameParts = t.Unsafe<string[]>({
  [t.Kind]: 'NameParts',
  type: 'array',
  items: { type: 'string', pattern: Tag.pattern, maxLength: MAX_PART },
  maxItems: MAX_PARTS,
  description:
    'Only plants whose names contain this, the case of A to Z ignored; given more than once, each of them, in any order. A page may be short or empty while `next` is there.',
  error: `${Tag.error}, of up to ${MAX_PART} characters, at most ${MAX_PARTS} times`,
})

const limitOf = (what: string) =>
  t.Unsafe<string | number>({
    [t.Kind]: 'Limit',
    type: 'integer',
    minimum: 1,
    maximum: 1000,
    default: DEFAULT_LIMIT,
    description: `The most ${what} on a page; default: ${DEFAULT_LIMIT}.`,
    error: 'expected an integer from 1 to 1000',
  })

// No default: Elysia would add it to every query, and so to every link.
const IdOrder = t.Unsafe<Order>({
  [t.Kind]: 'Order',
  type: 'string',
  enum: ORDERS,
  description: 'The order of ids; default: asc. With desc, `after` means ids below it.',
  error: 'expected asc or desc',
})

const flag = (description: string) =>
  t.Unsafe<boolean>({
    [t.Kind]: 'Flag',
    type: 'boolean',
    description,
    error: 'expected true or false',
  })

/** The parameters of a query; any other is refused. */
const parameters = <Fields extends t.TProperties>(fields: Fields) =>
  t.Object(fields, {
    additionalProperties: false,
    error: `unknown parameter; use ${listWords(Object.keys(fields), 'or')}`,
  })

const tagText = (description: string) => t.Unsafe<string>({ ...Tag, description })

/** The parameters of a list. */
export const PlantList = parameters({
  limit: t.Optional(limitOf('plants')),
  after: t.Optional(Cursor),
  tag: t.Optional(tagText('Only plants with exactly this tag.')),
  tagged: t.Optional(
    flag('false: only plants without a tag; true: only plants with any. Not beside `tag`.'),
  ),
  name: t.Optional(NameParts),
  order: t.Optional(IdOrder),
})

export type PlantList = typeof PlantList.static

/** The parameters of a list of tags. */
export const TagList = parameters({
  limit: t.Optional(limitOf('tags')),
  after: t.Optional(
    tagText('The tag at which a page ended, or any text. The next page begins after it.'),
  ),
})

// The change log itself checks cursors, including those of commands.
t.TypeRegistry.Set('LogCursor', (_, text) => typeof text === 'string')

const LOG_CURSOR = { [t.Kind]: 'LogCursor', type: 'string' }

const LogCursor = t.Unsafe<string>({
  ...LOG_CURSOR,
  title: 'LogCursor',
  pattern: CURSOR.source,
  description: 'A place in the change log, taken from an answer. What follows begins after it.',
})

const LogCursorOrNow = t.Unsafe<string>({
  ...LOG_CURSOR,
  pattern: `${CURSOR.source}|^${NOW}$`,
  description: `A place in the change log, taken from an answer; \`${NOW}\`: its end.`,
})

const changeList = (after: typeof LogCursor) =>
  parameters({ limit: t.Optional(limitOf('changes')), after: t.Optional(after) })

/** The parameters of the feed of changes. */
export const ChangeList = changeList(LogCursorOrNow)

/** The parameters of a plant's history. */
export const HistoryList = changeList(LogCursor)

/** The items of a batch: 1 to {@link MAX_BATCH}. */
const itemsOf = <Item extends t.TSchema>(item: Item, items: string) => ({
  plants: t.Array(item, {
    minItems: 1,
    maxItems: MAX_BATCH,
    description: `${items}, each with its own id.`,
    error: `expected an array of 1 to ${MAX_BATCH} plants`,
  }),
})
const BATCH_RULE = 'expected an object with plants'

export const PlantBatch = t.Object(itemsOf(Plant, 'Plants'), {
  title: 'PlantBatch',
  description: 'Plants to store together.',
  additionalProperties: true,
  error: BATCH_RULE,
})
export type PlantBatch = typeof PlantBatch.static

export const PlantUpdates = closed(itemsOf(PlantUpdate, 'Changes of plants'), {
  title: 'PlantUpdates',
  description: 'Plants to change together.',
  error: BATCH_RULE,
})
export type PlantUpdates = typeof PlantUpdates.static

// The schemas below only describe answers; they check nothing.

const orNull = (schema: t.TSchema, description: string) =>
  t.Union([schema, t.Null()], { description })

const NEXT = 'The `after` of the next page; null on the last one.'

export const PlantPage = t.Object(
  {
    plants: t.Array(Plant, {
      description: 'Plants in the requested order of ids.',
    }),
    next: orNull(Cursor, NEXT),
  },
  { title: 'PlantPage', description: 'A page of plants.' },
)

export const TagPage = t.Object(
  {
    tags: t.Array(
      t.Object({
        tag: Tag,
        plants: t.Integer({ minimum: 1, description: 'Plants with exactly this tag.' }),
      }),
      { description: 'Tags in the order of their code points.' },
    ),
    next: orNull(t.String({ minLength: 1 }), NEXT),
  },
  { title: 'TagPage', description: 'A page of tags.' },
)

const Change = t.Object(
  {
    cursor: LogCursor,
    at: t.String({ format: 'date-time', description: 'The time at which it took effect, in UTC.' }),
    action: t.Union(
      ACTIONS.map((action) => t.Literal(action)),
      { description: 'The kind of change that was requested.' },
    ),
    id: Int64,
    before: orNull(PlantFields, 'null: there was none.'),
    after: orNull(PlantFields, 'null: it was deleted.'),
    token: orNull(t.String(), 'The name of the token; null for a command.'),
    address: orNull(t.String(), 'The address of the client, if it has one.'),
    request: orNull(
      t.String(),
      'The id of the request, as in the request log; of a command, its name.',
    ),
  },
  { title: 'Change', description: 'A change that took effect.' },
)

const pageOf = (title: string, order: string, next: t.TSchema) =>
  t.Object(
    { changes: t.Array(Change, { description: order }), next },
    { title, description: 'Changes, each exactly once.' },
  )

export const ChangePage = pageOf('ChangePage', 'The oldest first.', LogCursor)
export const HistoryPage = pageOf('HistoryPage', 'The newest first.', orNull(LogCursor, NEXT))

export const CreateCounts = t.Object(
  { created: t.Integer({ minimum: 1, maximum: MAX_BATCH, description: 'Plants created.' }) },
  { title: 'Created', description: 'The number of plants that a batch created.' },
)

const putCount = (description: string) => t.Integer({ minimum: 0, maximum: MAX_BATCH, description })

export const PutCounts = t.Object(
  {
    created: putCount('Plants that were new.'),
    replaced: putCount('Plants that differed.'),
    unchanged: putCount('Plants that were stored already with the same fields.'),
  },
  {
    title: 'PutCounts',
    description: 'The numbers of plants that a batch created, replaced and left as they were.',
  },
)

const idsOf = (description: string) =>
  t.Array(t.Object({ id: Int64 }), { maxItems: MAX_BATCH, description })

export const PatchCounts = t.Object(
  {
    created: putCount('Plants that were new.'),
    patched: putCount('Plants that were changed.'),
    unchanged: putCount('Plants that were stored already as the change would leave them.'),
    conflicts: idsOf('Plants whose stored fields differ from `was`, and were left alone.'),
    missing: idsOf(
      'Plants that are not stored, and were not created: without a name, or with `was`.',
    ),
  },
  { title: 'Patched', description: 'The result of a batch of patches.' },
)

export const DeleteCounts = t.Object(
  {
    deleted: putCount('Plants that were deleted.'),
    conflicts: idsOf('Plants that are stored with other fields, and were left alone.'),
    missing: idsOf('Plants that were not stored.'),
  },
  { title: 'Deleted', description: 'The result of a batch of deletes.' },
)

export const OwnToken = t.Object(
  {
    name: t.String({
      description: 'As in the request log; the variable, if the configuration names the token.',
    }),
    scope: t.Union(
      SCOPES.map((scope) => t.Literal(scope)),
      { description: '`read` may only read plants and the change log; `write` may do everything.' },
    ),
    expires: t.Optional(
      t.String({ format: 'date-time', description: 'In UTC. Absent: it never expires.' }),
    ),
    changeLog: t.Boolean({ description: 'True if a change log is kept.' }),
  },
  { title: 'OwnToken', description: 'The rights of the token of a request.' },
)

export const Health = t.Object(
  {
    status: t.Union([t.Literal('ok'), t.Literal('damaged'), t.Literal('behind')], {
      description:
        'damaged: a page of the database is damaged; requests that need it fail. Run "plantstore check". behind: a standby may lack changes of more than 10 seconds.',
    }),
  },
  { title: 'Health', description: 'The store can write, or a replica be read.' },
)

const time = (description: string) => t.String({ format: 'date-time', description })
const count = (description: string) => t.Integer({ minimum: 0, description })

export const Status = t.Object(
  {
    version: t.String({ description: 'The version of the daemon.' }),
    commit: t.String({
      description: 'The commit that it was built from; `unknown` if it runs from source.',
    }),
    engine: t.Union([t.Literal('sqlite'), t.Literal('postgresql')], {
      description: 'The storage engine.',
    }),
    database: t.String({
      description: 'The name of the database file, or of the database on the server.',
    }),
    plants: orNull(count(''), 'Stored plants; null if they cannot be read.'),
    readOnly: t.Boolean({
      description: 'True if it was started with --read-only: changes get 40302.',
    }),
    writable: t.Boolean({ description: 'True if changes can be stored.' }),
    problem: orNull(
      t.Object({
        name: t.String({ description: 'The name of the error.' }),
        message: t.String({ description: 'The reason.' }),
      }),
      'The reason that changes cannot be stored, or a replica cannot be read; null if there is none.',
    ),
    replica: orNull(
      t.Object({
        lagSeconds: orNull(
          t.Number({ minimum: 0, description: '' }),
          'Age of the last change, or 0 if it has every change; null: unknown, as of a file.',
        ),
        lagBytes: orNull(count(''), 'Bytes of changes received and not applied; null: unknown.'),
        primary: orNull(t.String(), 'The address to send changes to; null: unknown.'),
      }),
      'Only of a read-only service: how far it lags behind its primary; otherwise null.',
    ),
    damaged: t.Boolean({ description: 'True if a page of the database is known to be damaged.' }),
    uptimeSeconds: count('Seconds since the daemon started.'),
    lastBackup: orNull(
      t.Object({
        at: time('The time of the backup, in UTC.'),
        ageSeconds: count('Seconds since then.'),
      }),
      'The last scheduled backup; null if there is none.',
    ),
    changeLog: orNull(
      t.Object({
        entries: count('Changes that are kept.'),
        bytes: count('Size of the change log.'),
        oldest: orNull(time(''), 'The time of the oldest change, in UTC; null if it is empty.'),
        keepSeconds: count('The retention period.'),
      }),
      'The change log; null if none is kept, or it cannot be read.',
    ),
    followers: count('Clients that follow the change log.'),
  },
  { title: 'Status', description: 'The state of the service.' },
)

export const ErrorBody = t.Object(
  {
    error: t.Integer({
      format: 'int32',
      description: 'The HTTP status times 100 plus a count. Its meaning never changes.',
    }),
    message: t.String({ description: 'The reason, and the fix.' }),
  },
  { title: 'Error', description: 'The reason that a request was refused.' },
)
