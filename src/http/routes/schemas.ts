// The schemas of requests and responses, other than plants. `title` names a schema in the OpenAPI description.

// From TypeBox, like the schemas of plants: an integer of Elysia's also accepts text.
import * as t from '@sinclair/typebox'
import packageJson from '../../../package.json'
import { ACTIONS, CURSOR, NOW } from '../../change-log/change-log'
import {
  closed,
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
import { EVENTS } from '../feed/followers'

const DEFAULT_LIMIT = 100
const MAX_BATCH = 1000
// Up to 1.8 kB in a URL. Searching for a longer part in a long name would be slow.
const MAX_PART = 200
// More words than a name has.
const MAX_PARTS = 10

type Check = (value: unknown) => boolean

t.TypeRegistry.Set<t.TSchema>('Parameter', ({ check }, value) => check(value))

/** A value in a path or a query, as Elysia reads it. `error`: the rule, for refusals. */
const parameter = <Value>(description: string, check: Check, error: string, schema: object) =>
  t.Unsafe<Value>({ ...schema, [t.Kind]: 'Parameter', description, check, error })

const isInt64Text: Check = (text) => typeof text === 'string' && parseInt64(text) !== null
const INT64_RULE = String(Int64.error)

/** The path of a plant. */
export const PlantPath = t.Object(
  { id: parameter<string>(String(Int64.description), isInt64Text, INT64_RULE, Int64) },
  { error: 'expected an id' },
)

// A string, because JavaScript's numbers are exact only up to 2^53.
const Cursor = parameter<string>(
  'The id at which a page ended, in digits. The next page begins after it.',
  isInt64Text,
  INT64_RULE,
  { title: 'Cursor', type: 'string', format: 'int64', pattern: '^-?\\d{1,19}$', examples: ['1'] },
)

const NameParts = parameter<string[]>(
  'Only plants whose names contain this, the case of A to Z ignored; given more than once, each of them, in any order. A page may be short or empty while `next` is there.',
  (parts) =>
    Array.isArray(parts) &&
    parts.length <= MAX_PARTS &&
    parts.every((part) => isText(part) && [...part].length <= MAX_PART),
  `${Tag.error}, of up to ${MAX_PART} characters, at most ${MAX_PARTS} times`,
  {
    type: 'array',
    items: { type: 'string', pattern: Tag.pattern, maxLength: MAX_PART },
    maxItems: MAX_PARTS,
  },
)

const Limit = parameter<string | number>(
  `The most items on a page; default: ${DEFAULT_LIMIT}.`,
  // Elysia fills in the default as a number.
  (value) => /^([1-9]\d{0,2}|1000)$/.test(String(value)),
  'expected an integer from 1 to 1000',
  { type: 'integer', minimum: 1, maximum: 1000, default: DEFAULT_LIMIT },
)

const IdOrder = parameter<Order>(
  'The order of ids; default: asc. With desc, `after` means ids below it.',
  (value) => ORDERS.some((order) => order === value),
  'expected asc or desc',
  { type: 'string', enum: ORDERS },
)

const Tagged = parameter<string>(
  'false: only plants without a tag; true: only plants with any. Not beside `tag`.',
  (value) => value === 'true' || value === 'false',
  'expected true or false',
  { type: 'boolean' },
)

/** The parameters of a query; any other is refused. */
const parameters = <Fields extends t.TProperties>(fields: Fields) =>
  t.Object(fields, {
    additionalProperties: false,
    error: `unknown parameter; use ${listWords(Object.keys(fields), 'or')}`,
  })

const tagText = (description: string) => t.Unsafe<string>({ ...Tag, description })

/** The parameters of a list. */
export const PlantList = parameters({
  limit: t.Optional(Limit),
  after: t.Optional(Cursor),
  tag: t.Optional(tagText('Only plants with exactly this tag.')),
  tagged: t.Optional(Tagged),
  name: t.Optional(NameParts),
  order: t.Optional(IdOrder),
})

export type PlantList = typeof PlantList.static

/** The parameters of a list of tags. */
export const TagList = parameters({
  limit: t.Optional(Limit),
  after: t.Optional(
    tagText('The tag at which a page ended, or any text. The next page begins after it.'),
  ),
})

const CURSOR_EXAMPLE = '5d1be2a07c93f648-17'

// The change log itself checks cursors, including those of commands.
const logCursor = (description: string, schema: object) =>
  parameter<string>(description, (text) => typeof text === 'string', '', {
    type: 'string',
    examples: [CURSOR_EXAMPLE],
    ...schema,
  })

const LogCursor = logCursor(
  'A place in the change log, taken from a response. What follows begins after it.',
  { title: 'LogCursor', pattern: CURSOR.source },
)

const LogCursorOrNow = logCursor(
  `A place in the change log, taken from a response; \`${NOW}\` for its end.`,
  { pattern: `${CURSOR.source}|^${NOW}$` },
)

const changeList = (after: typeof LogCursor) =>
  parameters({ limit: t.Optional(Limit), after: t.Optional(after) })

/** The parameters of the feed of changes. */
export const ChangeList = changeList(LogCursorOrNow)

/** The parameters of a plant's history. */
export const HistoryList = changeList(LogCursor)
export type HistoryList = typeof HistoryList.static

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
  additionalProperties: undefined,
  error: BATCH_RULE,
})

export const PlantUpdates = closed(itemsOf(PlantUpdate, 'Changes of plants'), {
  title: 'PlantUpdates',
  description: 'Plants to change together.',
  error: BATCH_RULE,
})

// The schemas below only describe responses; they check nothing.

const body = <Fields extends t.TProperties>(title: string, description: string, fields: Fields) =>
  t.Object(fields, { title, description })
/** `examples`: the first choice by default. */
const orNull = (schema: t.TSchema, description: string, options: t.SchemaOptions = {}) =>
  t.Union([schema, t.Null()], { description, ...options })
const oneOf = (values: readonly string[], description: string) =>
  t.Unsafe<string>({ type: 'string', enum: values, description })
const text = (description: string, ...examples: readonly string[]) =>
  t.String({ description, examples: [...examples] })
const time = (description: string) =>
  t.String({ format: 'date-time', description, examples: ['2030-05-01T12:00:00.000Z'] })
const count = (description: string, options: t.IntegerOptions = {}) =>
  t.Integer({ minimum: 0, description, ...options })
const flag = (description: string) => t.Boolean({ description, examples: [false] })

const NEXT = 'The `after` of the next page; null on the last one.'

export const PlantPage = body('PlantPage', 'A page of plants.', {
  plants: t.Array(Plant, { description: 'Plants in the requested order of ids.' }),
  next: orNull(Cursor, NEXT),
})

export const TagPage = body('TagPage', 'A page of tags.', {
  tags: t.Array(
    t.Object({ tag: Tag, plants: count('Plants with exactly this tag.', { minimum: 1 }) }),
    { description: 'Tags in the order of their code points.' },
  ),
  next: orNull(t.String({ minLength: 1, examples: Tag.examples as string[] }), NEXT),
})

const Change = body('Change', 'A change that took effect.', {
  cursor: LogCursor,
  at: time('The time at which it took effect, in UTC.'),
  action: oneOf(ACTIONS, 'The kind of change that was requested.'),
  id: Int64,
  before: orNull(PlantFields, 'Null if there was none.', { examples: [null] }),
  after: orNull(PlantFields, 'Null if it was deleted.'),
  token: orNull(text('', 'greenhouse'), 'The name of the token; null for a command.'),
  address: orNull(text('', '192.0.2.7'), 'The address of the client, if it has one.'),
  request: orNull(
    text('', 'a1b2c3'),
    'The id of the request, as in the request log; of a command, its name.',
  ),
})

const pageOf = (title: string, order: string, next: t.TSchema) =>
  body(title, 'Changes, each exactly once.', {
    changes: t.Array(Change, { description: order }),
    next,
  })

/** A stream of server-sent events. */
export const ChangeEvents = t.String({
  contentMediaType: EVENTS,
  examples: [`id: ${CURSOR_EXAMPLE}\nevent: delete\ndata: {"cursor":"${CURSOR_EXAMPLE}",…}\n\n`],
})

export const ChangePage = pageOf('ChangePage', 'The oldest first.', LogCursor)
export const HistoryPage = pageOf('HistoryPage', 'The newest first.', orNull(LogCursor, NEXT))

const batchCount = (description: string) => count(description, { maximum: MAX_BATCH })
const CREATED = batchCount('Plants that were new.')
const UNCHANGED = batchCount('Plants that were stored already as they would be.')
const idsOf = (description: string) =>
  t.Array(t.Object({ id: Int64 }), { maxItems: MAX_BATCH, description, examples: [[]] })
const CONFLICTS = idsOf('Plants that are stored with other fields than these, and were left alone.')

export const CreateCounts = body('Created', 'All plants are durable.', { created: CREATED })

export const PutCounts = body('PutCounts', 'All plants are durable.', {
  created: CREATED,
  replaced: batchCount('Plants that differed.'),
  unchanged: UNCHANGED,
})

export const PatchCounts = body('Patched', 'All changes are durable.', {
  created: CREATED,
  patched: batchCount('Plants that were changed.'),
  unchanged: UNCHANGED,
  conflicts: CONFLICTS,
  missing: idsOf(
    'Plants that are not stored, and were not created: without a name, or with `was`.',
  ),
})

export const DeleteCounts = body('Deleted', 'The plants that matched are gone.', {
  deleted: batchCount('Plants that were deleted.'),
  conflicts: CONFLICTS,
  missing: idsOf('Plants that were not stored.'),
})

export const OwnToken = body('OwnToken', 'The rights of the token of a request.', {
  name: text(
    'As in the request log; the variable, if the configuration names the token.',
    'laptop',
  ),
  scope: oneOf(
    SCOPES,
    '`read` may only read plants and the change log; `write` may do everything.',
  ),
  expires: t.Optional(time('In UTC. Absent: it never expires.')),
  changeLog: t.Boolean({ description: 'True if a change log is kept.' }),
})

export const Health = body('Health', 'The store can write, or a replica be read.', {
  status: oneOf(
    ['ok', 'damaged', 'behind'],
    'damaged: a page of the database is damaged; requests that need it fail. Run "plantstore check". behind: a standby may lack changes of more than 10 seconds.',
  ),
})

export const Status = body('Status', 'The state of the service.', {
  version: text('The version of the daemon.', packageJson.version),
  commit: text(
    'The commit that it was built from; `unknown` if it runs from source.',
    '08899f921b79',
  ),
  engine: oneOf(['sqlite', 'postgresql'], 'The storage engine.'),
  database: text('The name of the database file, or of the database on the server.', 'plants.db'),
  plants: orNull(count(''), 'Stored plants; null if they cannot be read.'),
  readOnly: flag('True if it was started with --read-only: changes get 40302.'),
  writable: t.Boolean({ description: 'True if changes can be stored.' }),
  problem: orNull(
    t.Object({ name: text('The name of the error.'), message: text('The reason.') }),
    'The reason that changes cannot be stored, or a replica cannot be read; null if there is none.',
    { examples: [null] },
  ),
  replica: orNull(
    t.Object({
      lagSeconds: orNull(
        t.Number({ minimum: 0, description: '' }),
        'Age of the last change, or 0 if it has every change; null if unknown, as of a file.',
      ),
      lagBytes: orNull(count(''), 'Bytes of changes received and not applied; null if unknown.'),
      primary: orNull(t.String(), 'The address to send changes to; null if unknown.'),
    }),
    'Only of a read-only service: how far it lags behind its primary; otherwise null.',
    { examples: [null] },
  ),
  damaged: flag('True if a page of the database is known to be damaged.'),
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
})

export const MetricsText = t.String({
  contentMediaType: 'text/plain',
  description: 'The metrics.',
  examples: ['plantstore_plants 1\n'],
})

export const ErrorBody = body('Error', 'The reason that a request was refused.', {
  error: t.Integer({
    format: 'int32',
    description: 'The HTTP status times 100 plus a count. Its meaning never changes.',
  }),
  message: t.String({ description: 'The reason, and the fix.' }),
})
