// plantstore token: creates, lists, revokes and prunes the tokens of clients.

import type { Config } from '../../config/config'
import { DATABASE_OPTIONS, OPTIONS, toFlag } from '../../config/options'
import { engineOf, openStore } from '../../engine/engine'
import { storeGuest } from '../../engine/store-user'
import { cutUrls, UsageError } from '../../errors'
import { beginFile, type UnnamedFile, writeText } from '../../files/replace-file'
import { EXIT_CODES } from '../../program'
import type { Store } from '../../store'
import { hourOf, issueToken, isTokenName, stateOf, type Token } from '../../token/token'
import { type Command, type CommandContext, type Output, onlyArgument } from '../command'
import { countOf } from '../count'
import { commandLog, interactiveOptions } from '../terminal/suspend'

const iso = (time: number | null): string | null =>
  time === null ? null : new Date(time).toISOString()
const minute = (time: number): string => new Date(time).toISOString().slice(0, 16).replace('T', ' ')
const hour = (time: number): string => `${minute(time).slice(0, 13)}h`

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
  if (!isTokenName(name)) {
    throw new UsageError(
      'name: 1–64 letters, digits, spaces or ._@-; starts with a letter or digit',
    )
  }
  return name
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
  // Fails on a full disk, before there is a token.
  if (file) writeText(file, `${text}\n`)
  if (!(await store.createToken(token))) {
    err.write(`plantstore: token ${name} already exists; choose another name, or revoke it first\n`)
    return EXIT_CODES.failure
  }
  let isDelivered = false
  try {
    if (file) await file.place()
    isDelivered = file !== null || printToken(text, name, context)
  } finally {
    if (!isDelivered) await store.revokeToken(name, Date.now())
  }
  if (file) out.write(`saved token ${name} to ${file.path}\n`)
  if (isDelivered) return EXIT_CODES.ok
  err.write('plantstore: could not print the token, so it was revoked\n')
  return EXIT_CODES.failure
}

// A clock that was ahead may have recorded a later hour.
const withPastUse = (token: Token, now: number): Token => ({
  ...token,
  lastUsedAt: token.lastUsedAt === null ? null : Math.min(token.lastUsedAt, hourOf(now)),
})

async function readTokens(config: Config, err: Output): Promise<readonly Token[]> {
  const store = await engineOf(config.database).openReadOnly(
    config.database,
    config,
    commandLog(err),
  )
  try {
    return await store.listTokens()
  } finally {
    await store.close()
  }
}

async function list({ config, out, err }: CommandContext): Promise<number> {
  const now = Date.now()
  const tokens = (await readTokens(config, err)).map((token) => withPastUse(token, now))
  if (config.json) {
    const all = tokens.map((token) => tokenToJson(token, now))
    out.write(`${JSON.stringify(all, null, 2)}\n`)
    return EXIT_CODES.ok
  }
  const rows = tokens.map((token) => [
    token.name,
    token.scope,
    minute(token.createdAt),
    token.lastUsedAt === null ? 'never' : hour(token.lastUsedAt),
    describeState(token, now),
  ])
  const table = [['NAME', 'SCOPE', 'CREATED (UTC)', 'LAST USED', 'STATE'], ...rows]
  const widths = [0, 1, 2, 3].map((column) =>
    Math.max(...table.map((row) => row[column]?.length ?? 0)),
  )
  for (const row of table) {
    out.write(`${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}\n`)
  }
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

const beginOutput = (path: string, { database }: Config) =>
  beginFile(path, 'refuse', engineOf(database).locate(database).files)

/** The action that accepts each option. */
const OPTION_OWNERS = {
  scope: 'create',
  expires: 'create',
  output: 'create',
  json: 'list',
  olderThan: 'prune',
} as const

export const token: Command = {
  name: 'token',
  usage: 'create NAME | list | revoke NAME | prune',
  summary: 'create, list, revoke and prune access tokens',
  help: `A token is printed once, to standard output, when it is created; with --output it is written to a new file
instead, which only this user can read. The store keeps only its hash. Changes take effect on the daemon's next
request.

The list shows when the daemon last accepted a token, to the hour. The name of a revoked or expired token can be
reused; prune removes such tokens from the list. If none is left, the next start of the daemon prints a new first one.

  plantstore token create laptop
  plantstore token create dashboard --scope read --expires 90d
  plantstore token create prometheus --scope read --output prometheus.token
  plantstore token revoke laptop
  plantstore token list --json
  plantstore token prune --older-than 30d`,
  options: [...DATABASE_OPTIONS, 'scope', 'expires', 'output', 'json', 'olderThan'],
  async run(context) {
    const { args, config } = context
    const [word = ''] = args
    const change = Object.hasOwn(CHANGES, word) ? CHANGES[word as keyof typeof CHANGES] : undefined
    if (!change && word !== 'list') {
      const unknown = word && `unknown action ${JSON.stringify(cutUrls(word))}: `
      throw new UsageError(`${unknown}use token create NAME, list, revoke NAME or prune`)
    }
    for (const [name, owner] of Object.entries(OPTION_OWNERS)) {
      const option = name as keyof typeof OPTION_OWNERS
      if (word !== owner && config[option] !== OPTIONS[option].default) {
        throw new UsageError(`${toFlag(option)} belongs to token ${owner}`)
      }
    }
    if (!change || change === prune) {
      if (args.length > 1) throw new UsageError(`token ${word} takes no name`)
    } else {
      tokenName(args)
    }
    if (!change) return list(context)
    await using file = config.output === null ? null : await beginOutput(config.output, config)
    const store = await openStore(
      config.database,
      storeGuest({
        makesDatabase: false,
        ...interactiveOptions(context.err),
      }),
      config,
    )
    try {
      return await change(store, context, file)
    } finally {
      await store.close()
    }
  },
}
