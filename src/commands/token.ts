// plantstore token: creates, lists and revokes the tokens that clients send.

import type { Command, CommandContext } from '../command'
import { openStore } from '../engine/open-store'
import { command } from '../engine/role'
import { UsageError } from '../errors'
import { options } from '../options'
import type { Store } from '../store'
import { tellMigration } from '../terminal/migration'
import { issueToken, isTokenName, isValid, type Token } from '../token'

const minute = (time: number): string => new Date(time).toISOString().slice(0, 16).replace('T', ' ')

function state(token: Token, now: number): string {
  if (token.revokedAt !== null) return `revoked ${minute(token.revokedAt)}`
  if (!isValid(token, now)) return `expired ${minute(token.expiresAt ?? now)}`
  return token.expiresAt === null ? 'valid' : `valid until ${minute(token.expiresAt)}`
}

function oneName([, name, ...rest]: readonly string[]): string {
  if (name === undefined || rest.length > 0) throw new UsageError('give exactly one token NAME')
  if (!isTokenName(name)) {
    throw new UsageError(
      'name: 1–64 letters, digits, spaces or ._@-; starts with a letter or digit',
    )
  }
  return name
}

async function create(store: Store, { args, config, out, err }: CommandContext): Promise<number> {
  const name = oneName(args)
  const { text, token } = issueToken(name, config.scope, config.expires, Date.now())
  if (!(await store.createToken(token))) {
    err.write(`plantstore: token ${name} already exists; choose another name, or revoke it first\n`)
    return 1
  }
  err.write(`Token ${name}, shown only once:\n`)
  let isShown = false
  try {
    isShown = out.write(`${text}\n`)
  } finally {
    if (!isShown) await store.revokeToken(name, Date.now())
  }
  if (isShown) return 0
  err.write('plantstore: could not print the token, so it was revoked\n')
  return 1
}

async function list(store: Store, { out }: CommandContext): Promise<number> {
  const now = Date.now()
  const rows = (await store.listTokens()).map((token) => [
    token.name,
    token.scope,
    minute(token.createdAt),
    state(token, now),
  ])
  const table = [['NAME', 'SCOPE', 'CREATED (UTC)', 'STATE'], ...rows]
  const widths = [0, 1, 2].map((column) =>
    Math.max(...table.map((row) => row[column]?.length ?? 0)),
  )
  for (const row of table) {
    out.write(`${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}\n`)
  }
  return 0
}

async function revoke(store: Store, { args, out, err }: CommandContext): Promise<number> {
  const name = oneName(args)
  if (await store.revokeToken(name, Date.now())) {
    out.write(`revoked ${name}\n`)
    return 0
  }
  err.write(`plantstore: no valid token ${name}; see "plantstore token list"\n`)
  return 1
}

const actions = { create, list, revoke }

export const token: Command = {
  name: 'token',
  usage: 'create NAME | list | revoke NAME',
  summary: 'create, list and revoke access tokens',
  help: `A token is printed once, to standard output, when it is created; the store keeps only its hash. Changes take effect on the daemon's next request.

  plantstore token create laptop
  plantstore token create dashboard --scope read --expires 90d
  plantstore token revoke laptop`,
  options: ['database', 'scope', 'expires'],
  async run(context) {
    const { args, config } = context
    const [word = ''] = args
    const action = Object.hasOwn(actions, word) ? actions[word as keyof typeof actions] : undefined
    if (!action) {
      const unknown = word && `unknown action ${JSON.stringify(word)}: `
      throw new UsageError(`${unknown}use token create NAME, token list or token revoke NAME`)
    }
    if (action !== create && (config.scope !== options.scope.default || config.expires !== null)) {
      throw new UsageError('--scope and --expires belong to token create')
    }
    if (action === list) {
      if (args.length > 1) throw new UsageError('token list takes no name')
    } else {
      oneName(args)
    }
    const store = await openStore(
      config.database,
      command({ makesDatabase: false, log: tellMigration(context.err) }),
    )
    try {
      return await action(store, context)
    } finally {
      await store.close()
    }
  },
}
