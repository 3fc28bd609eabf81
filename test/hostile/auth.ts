import { TOKEN } from '../harness/daemon'
import { bare, type Case, type Expected, fern, type RequestParts, request, tokens } from './case'

const body = '{"id":10,"name":"a"}'

const read = (name: string, answer: Expected, parts: RequestParts): Case => ({
  name,
  bytes: bare('GET /plants/1', parts),
  answers: [answer],
})

const takes = (what: string, authorization: string): Case =>
  read(`takes ${what}`, fern, { authorization })

const refuses = (error: number, rows: readonly (readonly [string, string])[]): Case[] =>
  rows.map(([what, authorization]) => read(`refuses ${what}`, error, { authorization }))

/** A field that is not the one that counts. */
const elsewhere = (what: string, ...fields: readonly string[]): Case =>
  read(`takes no token from ${what}`, 40101, { authorization: null, fields })

/** A create that is refused because of its credentials. */
const write = (name: string, error: number, parts: RequestParts): Case => ({
  name,
  bytes: request({ body, ...parts }),
  answers: [error],
})

const withScope = (name: string, line: string, parts: RequestParts, answer: Expected): Case => ({
  name,
  bytes: request({ line: `${line} HTTP/1.1`, authorization: `Bearer ${tokens.read}`, ...parts }),
  answers: [answer],
})

/** Every shape of credentials. */
export const auth: readonly Case[] = [
  takes('credentials as they should be', `Bearer ${TOKEN}`),
  takes('the scheme in small letters', `bearer ${TOKEN}`),
  takes('the scheme in capitals', `BEARER ${TOKEN}`),
  takes('the scheme in mixed letters', `bEaReR ${TOKEN}`),
  takes('two spaces behind the scheme', `Bearer  ${TOKEN}`),
  takes('8,000 spaces behind the scheme', `Bearer ${' '.repeat(8000)}${TOKEN}`),
  takes('spaces around the value', `   Bearer ${TOKEN}   `),
  takes('tabs around the value', `\tBearer ${TOKEN}\t`),
  read('takes the name of the field in any case', fern, {
    authorization: null,
    fields: [`aUTHORIZATION: Bearer ${TOKEN}`],
  }),
  read('takes a value right behind the colon', fern, {
    authorization: null,
    fields: [`Authorization:Bearer ${TOKEN}`],
  }),
  takes('a token that only reads, for reading', `Bearer ${tokens.read}`),
  read('refuses a request without credentials', 40101, { authorization: null }),
  ...refuses(40101, [
    ['an empty field', ''],
    ['a token without a scheme', TOKEN],
    ['a scheme right before its token', `Bearer${TOKEN}`],
    ['a longer scheme', `BearerX ${TOKEN}`],
    ['a longer scheme right before its token', `BearerX${TOKEN}`],
    ['a shorter scheme', `Beare ${TOKEN}`],
    ['a tab behind the scheme', `Bearer\t${TOKEN}`],
    ['a space of Latin-1 behind the scheme', `Bearer\xa0${TOKEN}`],
    ['an equals sign behind the scheme', `Bearer=${TOKEN}`],
    ['a colon behind the scheme', `Bearer: ${TOKEN}`],
    ['a comma behind the scheme', `Bearer,${TOKEN}`],
    ['a scheme in quotes', `"Bearer" ${TOKEN}`],
    ['something before the scheme', `x Bearer ${TOKEN}`],
    ['a comma before the scheme', `, Bearer ${TOKEN}`],
    ['the scheme Basic', 'Basic dXNlcjpwYXNz'],
    ['the scheme Basic with the token', `Basic ${Buffer.from(`:${TOKEN}`).toString('base64')}`],
    ['the scheme Basic before Bearer', `Basic dTpw, Bearer ${TOKEN}`],
    ['the scheme Digest', 'Digest username="a", response="b"'],
    ['the scheme Token', `Token ${TOKEN}`],
    ['the scheme DPoP', `DPoP ${TOKEN}`],
    ['the scheme Negotiate', 'Negotiate YIIB'],
    ['a letter that looks like B', `\xd0\x92earer ${TOKEN}`],
    ['8,000 spaces alone', ' '.repeat(8000)],
    ['8,000 letters', 'a'.repeat(8000)],
  ]),
  ...refuses(40102, [
    ['a scheme without a token', 'Bearer'],
    ['a scheme and a space without a token', 'Bearer '],
    ['an unknown token', 'Bearer pst_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'],
    ['an expired token', `Bearer ${tokens.expired}`],
    ['a revoked token', `Bearer ${tokens.revoked}`],
    ['a token without its last letter', `Bearer ${TOKEN.slice(0, -1)}`],
    ['a token with one letter more', `Bearer ${TOKEN}f`],
    ['a token in capitals', `Bearer ${TOKEN.toUpperCase()}`],
    ['a token with padding', `Bearer ${TOKEN}=`],
    ['a token of padding alone', 'Bearer ==='],
    ['a token with padding within', `Bearer test=${TOKEN.slice(5)}`],
    ['a token in quotes', `Bearer "${TOKEN}"`],
    ['a token in angle brackets', `Bearer <${TOKEN}>`],
    ['a token as a parameter', `Bearer token="${TOKEN}"`],
    ['a token with a parameter', `Bearer ${TOKEN}, realm="plantstore"`],
    ['a token with a comma', `Bearer ${TOKEN},`],
    ['a token twice', `Bearer ${TOKEN} ${TOKEN}`],
    ['a token twice with a comma', `Bearer ${TOKEN}, Bearer ${TOKEN}`],
    ['a scheme twice', `Bearer Bearer ${TOKEN}`],
    ['a space in the token', `Bearer ${TOKEN.slice(0, 9)} ${TOKEN.slice(9)}`],
    ['a tab in the token', `Bearer ${TOKEN.slice(0, 9)}\t${TOKEN.slice(9)}`],
    ['a token in percent signs', `Bearer ${TOKEN.replace('t', '%74')}`],
    ['a token with a letter of Latin-1', `Bearer ${TOKEN}\xe9`],
    ['a token with a byte order mark', `Bearer \xef\xbb\xbf${TOKEN}`],
    ['a token in base64', `Bearer ${Buffer.from(TOKEN).toString('base64')}`],
    ['the hash of a token', `Bearer ${Bun.SHA256.hash(TOKEN, 'hex')}`],
    ['the token null', 'Bearer null'],
    ['the token undefined', 'Bearer undefined'],
    ['the token __proto__', 'Bearer __proto__'],
    ['the token true', 'Bearer true'],
    ['a token that is like SQL', "Bearer ' OR 1=1 --"],
    ['a token that is like a pattern', 'Bearer .*'],
    ['a token that is a star', 'Bearer *'],
    ['a token without a signature', 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.'],
    ['a token of 4,096 letters', `Bearer ${'a'.repeat(4096)}`],
    ['a token of 8,192 letters', `Bearer ${'a'.repeat(8192)}`],
    ['a token of 8,192 equals signs', `Bearer a${'='.repeat(8192)}`],
    ['a token of letters and spaces', `Bearer ${'a '.repeat(4000)}`],
  ]),
  read('closes at a token of 20,000 letters', 431, {
    authorization: `Bearer ${'a'.repeat(20_000)}`,
  }),
  read('closes at a zero byte in a token', 400, { authorization: `Bearer ${TOKEN}\0` }),
  read('refuses the same credentials twice', 40102, { fields: [`Authorization: Bearer ${TOKEN}`] }),
  read('refuses a wrong token before the right one', 40102, {
    authorization: 'Bearer wrong',
    fields: [`Authorization: Bearer ${TOKEN}`],
  }),
  read('refuses a wrong token behind the right one', 40102, {
    fields: ['Authorization: Bearer wrong'],
  }),
  read('refuses Basic before the right credentials', 40101, {
    authorization: 'Basic dTpw',
    fields: [`Authorization: Bearer ${TOKEN}`],
  }),
  elsewhere('Proxy-Authorization', `Proxy-Authorization: Bearer ${TOKEN}`),
  elsewhere('X-Authorization', `X-Authorization: Bearer ${TOKEN}`),
  elsewhere('X-Forwarded-Authorization', `X-Forwarded-Authorization: Bearer ${TOKEN}`),
  elsewhere('a field with an underscore', `Authorization_: Bearer ${TOKEN}`),
  elsewhere('an API key', `X-API-Key: ${TOKEN}`, `Api-Key: ${TOKEN}`, `X-Auth-Token: ${TOKEN}`),
  elsewhere(
    'a cookie',
    `Cookie: access_token=${TOKEN}; token=${TOKEN}; Authorization=Bearer ${TOKEN}`,
  ),
  elsewhere('a protocol of websockets', `Sec-WebSocket-Protocol: bearer, ${TOKEN}`),
  {
    name: 'takes no token from the query',
    bytes: bare(`GET /plants/1?access_token=${TOKEN}`, { authorization: null }),
    answers: [40101],
  },
  {
    name: 'takes no token from the user of the target',
    bytes: bare(`GET http://x:${TOKEN}@localhost/plants/1`, { authorization: null }),
    answers: [40101],
  },
  {
    name: 'takes no token from the query of a create',
    bytes: request({
      line: `POST /plants?access_token=${TOKEN} HTTP/1.1`,
      authorization: null,
      body,
    }),
    answers: [40101],
  },
  write('takes no token from a form', 40101, {
    authorization: null,
    type: 'application/x-www-form-urlencoded',
    body: `access_token=${TOKEN}`,
  }),
  write('takes no token from the body', 40101, {
    authorization: null,
    body: `{"id":10,"name":"a","access_token":"${TOKEN}"}`,
  }),
  write('refuses a create without credentials', 40101, { authorization: null }),
  write('refuses a create with an unknown token', 40102, { authorization: 'Bearer x' }),
  write('refuses a create with an expired token', 40102, {
    authorization: `Bearer ${tokens.expired}`,
  }),
  write('refuses a create with a revoked token', 40102, {
    authorization: `Bearer ${tokens.revoked}`,
  }),
  write('refuses credentials before the content type', 40101, {
    authorization: null,
    type: 'text/plain',
  }),
  write('refuses credentials before the length', 40101, {
    authorization: null,
    body: ' '.repeat(1_048_577),
  }),
  write('refuses credentials before the syntax', 40101, { authorization: null, body: '{' }),
  write('refuses credentials before a conflict', 40101, {
    authorization: null,
    body: '{"id":1,"name":"Fern","tag":"green"}',
  }),
  write('refuses the scope before the content type', 40301, {
    authorization: `Bearer ${tokens.read}`,
    type: 'text/plain',
  }),
  write('refuses the scope before the syntax', 40301, {
    authorization: `Bearer ${tokens.read}`,
    body: '{',
  }),
  withScope('refuses a create by a token that only reads', 'POST /plants', { body }, 40301),
  withScope(
    'refuses a batch by a token that only reads',
    'POST /plants/batch',
    { body: `{"plants":[${body}]}` },
    40301,
  ),
  withScope(
    'refuses a batch of puts by a token that only reads',
    'PUT /plants/batch',
    { body: `{"plants":[${body}]}` },
    40301,
  ),
  withScope(
    'refuses a batch of patches by a token that only reads',
    'PATCH /plants/batch',
    { body: `{"plants":[${body}]}` },
    40301,
  ),
  withScope(
    'refuses a batch of deletes by a token that only reads',
    'POST /plants/batch-delete',
    { body: `{"plants":[${body}]}` },
    40301,
  ),
  withScope(
    'refuses a change by a token that only reads',
    'PUT /plants/1',
    { body: '{"name":"b"}' },
    40301,
  ),
  withScope('refuses a deletion by a token that only reads', 'DELETE /plants/1', {}, 40301),
  withScope('lists for a token that only reads', 'GET /plants?limit=1', {}, [
    200,
    '{"plants":[{"id":1,"name":"Fern","tag":"green"}],"next":null}',
  ]),
  withScope('lists tags for a token that only reads', 'GET /tags', {}, [
    200,
    '{"tags":[{"tag":"green","plants":1}],"next":null}',
  ]),
  withScope('lists no tags without credentials', 'GET /tags', { authorization: null }, 40101),
]
