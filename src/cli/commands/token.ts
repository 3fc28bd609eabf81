// plantstore token: creates, lists, revokes and prunes the tokens of clients.

import { DATABASE_OPTIONS, OPTIONS, type OptionName, toFlag } from '../../config/options'
import { engineOf, openStore } from '../../engine/engine'
import { commandUser } from '../../engine/store-user'
import { UsageError } from '../../errors'
import { beginFile, type UnnamedFile } from '../../files/replace-file'
import { EXIT_CODES } from '../../program'
import { cutUrls } from '../../redaction'
import type { Store } from '../../store'
import { issueToken, isTokenName, stateOf, type Token } from '../../token/token'
import { type Command, type CommandContext, onlyArgument } from '../command'
import { countOf } from '../count'
import { commandLog, interactiveOptions } from '../terminal/suspend'

const iso = (time: number | null): string | null =>
  time === null ? null : new Date(time).toISOString()
const minute = (time: number): string => new Date(time).toISOString().slice(0, 16).replace('T', ' ')

function describeState(token: Token, now: number): string {
  const { expiresAt, revokedAt } = token
  const state = stateOf(token, now)
  if (state === 'valid') return expiresAt === null ? state : `valid until ${minute(expiresAt)}`
  return `${state} ${minute((state === 'expired' ? expiresAt : revokedAt) ?? now)}`
}

// Scripts read this: fields may be added, but never renamed or removed.
function tokenToJson(token: Token, now: number) {
  const state = stateOf(token, now)
  return {
    name: token.name,
    scope: token.scope,
    state,
    createdAt: iso(token.createdAt),
    lastUsedAt: iso(token.lastUsedAt),
    expiresAt: iso(token.expiresAt),
    // An expired token whose name was reused has a time of revocation, but was not revoked by a user.
    revokedAt: state === 'revoked' ? iso(token.revokedAt) : null,
  }
}

function tokenName(args: readonly string[]): string {
  const name = onlyArgument(args.slice(1), 'token NAME')
  if (isTokenName(name)) return name
  throw new UsageError('name: 1–64 letters, digits, spaces or ._@-; starts with a letter or digit')
}

/** Prints a token; false if no reader can have received it. */
function printToken(text: string, name: string, { out, err }: CommandContext): boolean {
  err.write(`Token ${name}, shown only once:\n`)
  return out.write(`${text}\n`) && !out.isDiscarded
}

/** Adds a token to the store, then prints or saves it; revokes it if that fails. */
async function create(
  store: Store,
  context: CommandContext,
  file: UnnamedFile | null,
): Promise<number> {
  const { args, config, out, err } = context
  const name = tokenName(args)
  const { text, token } = issueToken(name, config.scope, config.expires, Date.now())
  if (!(await store.createToken(token))) {
    err.write(`plantstore: token ${name} already exists; choose another name, or revoke it first\n`)
    return EXIT_CODES.failure
  }
  let isDelivered = false
  try {
    await file?.write((temp) => Bun.write(temp, `${text}\n`))
    await file?.place()
    isDelivered = file !== null || printToken(text, name, context)
  } finally {
    if (!isDelivered) await store.revokeToken(name, Date.now())
  }
  if (file) out.write(`saved token ${name} to ${file.path}\n`)
  if (isDelivered) return EXIT_CODES.ok
  err.write('plantstore: could not print the token, so it was revoked\n')
  return EXIT_CODES.failure
}

function printTable(tokens: readonly Token[], now: number, { out }: CommandContext): void {
  const rows = tokens.map((token) => [
    token.name,
    token.scope,
    minute(token.createdAt),
    token.lastUsedAt === null ? 'never' : `${minute(token.lastUsedAt).slice(0, 13)}h`,
    describeState(token, now),
  ])
  const heads = ['NAME', 'SCOPE', 'CREATED (UTC)', 'LAST USED', 'STATE']
  const table = [heads, ...rows]
  const widths = heads.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)))
  for (const row of table) {
    const cells = row.map((cell, column) => cell.padEnd(widths[column] ?? 0))
    out.write(`${cells.join('  ').trimEnd()}\n`)
  }
}

async function list(store: Pick<Store, 'listTokens'>, context: CommandContext): Promise<number> {
  const now = Date.now()
  const tokens = await store.listTokens()
  if (context.config.json) {
    const all = tokens.map((token) => tokenToJson(token, now))
    context.out.write(`${JSON.stringify(all, null, 2)}\n`)
  } else printTable(tokens, now, context)
  return EXIT_CODES.ok
}

async function revoke(store: Store, { args, out, err }: CommandContext): Promise<number> {
  const name = tokenName(args)
  if (await store.revokeToken(name, Date.now())) {
    out.write(`revoked ${name}\n`)
    return EXIT_CODES.ok
  }
  err.write(`plantstore: no valid token ${name}; see "plantstore token list"\n`)
  return EXIT_CODES.failure
}

async function prune(store: Store, { config, out }: CommandContext): Promise<number> {
  const count = await store.pruneTokens(Date.now() - (config.olderThan ?? 0))
  out.write(`removed ${countOf(count, 'token')}\n`)
  return EXIT_CODES.ok
}

/** The actions that change tokens. */
const CHANGES = { create, revoke, prune }

type Action = keyof typeof CHANGES | 'list'

/** The options of single actions. */
const OPTIONS_OF: Readonly<Record<Action, readonly OptionName[]>> = {
  create: ['scope', 'expires', 'output'],
  list: ['json'],
  revoke: [],
  prune: ['olderThan'],
}

const isAction = (word: string): word is Action => Object.hasOwn(OPTIONS_OF, word)

/** The action of a command line. Throws a `UsageError` for an unknown one, and for wrong options or arguments. */
function actionOf({ args, config }: CommandContext): Action {
  const [word = ''] = args
  if (!isAction(word)) {
    const unknown = word && `unknown action ${JSON.stringify(cutUrls(word))}: `
    throw new UsageError(`${unknown}use token create NAME, list, revoke NAME or prune`)
  }
  for (const name of Object.values(OPTIONS_OF).flat()) {
    if (!OPTIONS_OF[word].includes(name) && config[name] !== OPTIONS[name].default)
      throw new UsageError(`token ${word} has no option ${toFlag(name)}`)
  }
  if (word === 'create' || word === 'revoke') tokenName(args)
  else if (args.length > 1) throw new UsageError(`token ${word} takes no name`)
  return word
}

export const token: Command = {
  name: 'token',
  usage: 'create NAME | list | revoke NAME | prune',
  summary: 'create, list, revoke and prune access tokens',
  help: `A token is printed once, when it is created; with --output it is written to a
new file instead, which only this user can read. The store keeps only its hash.
Changes take effect on the daemon's next request.

The list shows the hour of each token's last use. prune removes revoked and
expired tokens, whose names can be reused. If none is left, the next start of
the daemon prints a new first one.

  plantstore token create dashboard --scope read --expires 90d
  plantstore token revoke dashboard
  plantstore token prune --older-than 30d`,
  options: [...DATABASE_OPTIONS, ...Object.values(OPTIONS_OF).flat()],
  async run(context) {
    const { config, err } = context
    const { database, output } = config
    const action = actionOf(context)
    const { locate, openReadOnly } = engineOf(database)
    if (action === 'list') {
      const reader = await openReadOnly(database, config, commandLog(err))
      return list(reader, context).finally(() => reader.close())
    }
    await using file =
      output === null ? null : await beginFile(output, 'refuse', locate(database).files)
    const user = commandUser({ makesDatabase: false, ...interactiveOptions(err) })
    const store = await openStore(database, user, config)
    return await CHANGES[action](store, context, file).finally(() => store.close())
  },
}
