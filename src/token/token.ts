// Access tokens: their scopes, their states, and their texts, of which only hashes are stored.

/** The scopes of a token: `read` reads plants; `write` reads and writes them. */
export const SCOPES = ['read', 'write'] as const
export type Scope = (typeof SCOPES)[number]

/** A bearer token as stored: never the token itself. Times are milliseconds since 1970, UTC. */
export type Token = {
  readonly name: string
  /** SHA-256 of the token, 64 hexadecimal digits. */
  readonly hash: string
  readonly scope: Scope
  readonly createdAt: number
  /** null if it never expires. */
  readonly expiresAt: number | null
  /** null if it is not revoked. */
  readonly revokedAt: number | null
  /** The start of the hour of its last use; null if it was never used. */
  readonly lastUsedAt: number | null
}

/** The state of a token at some time. One that expired before it was revoked counts as expired. */
type TokenState = 'valid' | 'expired' | 'revoked'

const NAME = /^[\p{L}\p{N}][\p{L}\p{N}._@ -]{0,63}$/u
// RFC 6750, section 2.1: b64token.
const B64TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/

const randomToken = (): string =>
  `pst_${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url')}`

/** A token, by default a new one of 256 random bits, and its stored form. Times are milliseconds. */
export function issueToken(
  name: string,
  scope: Scope,
  expiresIn: number | null,
  now: number,
  text = randomToken(),
) {
  const token: Token = {
    name,
    hash: hashToken(text),
    scope,
    createdAt: now,
    expiresAt: expiresIn === null ? null : now + expiresIn,
    revokedAt: null,
    lastUsedAt: null,
  }
  return { text, token }
}

/** SHA-256 of a token, 64 hexadecimal digits. The token is random, so it needs no salt and no stretching. */
export function hashToken(token: string): string {
  return Bun.SHA256.hash(token, 'hex')
}

/** Maximum length of a token in characters. */
export const MAX_TOKEN = 4096

/** True if a text can be sent as a bearer token (RFC 6750, section 2.1), and is long enough to be one. */
export const isToken = (text: string): boolean =>
  text.length >= 16 && text.length <= MAX_TOKEN && B64TOKEN.test(text)

/** True if a text can name a token. */
export const isTokenName = (text: string): boolean => NAME.test(text)

/** The state of a token at a time in milliseconds since 1970. */
export function stateOf({ expiresAt, revokedAt }: Token, now: number): TokenState {
  if (expiresAt !== null && (revokedAt ?? now) >= expiresAt) return 'expired'
  return revokedAt === null ? 'valid' : 'revoked'
}

/** True if a token is valid at a time in milliseconds since 1970. */
export const isValid = (token: Token, now: number): boolean => stateOf(token, now) === 'valid'

const HOUR_MS = 3_600_000

/** The start of the hour, in UTC, of a time in milliseconds since 1970. */
export const hourOf = (time: number): number => time - (time % HOUR_MS)

/** True if a token's scope includes another. */
export const allows = (token: Token, scope: Scope): boolean =>
  token.scope === 'write' || scope === 'read'
