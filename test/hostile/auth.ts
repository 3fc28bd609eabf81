import { TOKEN } from '../harness/daemon'
import { bare, type Case, type Expected, fern, type RequestParts, request, tokens } from './case'

const body = '{"id":10,"name":"a"}'
const batch = `{"plants":[${body}]}`

const read = (name: string, answer: Expected, parts: RequestParts): Case => ({
  name,
  bytes: bare('GET /plants/1', parts),
  answers: [answer],
})

/** Reads with these values of the field Authorization. */
const reads = (what: string, answer: Expected, ...values: readonly string[]): Case[] =>
  values.map((authorization) =>
    read(`${what}: ${JSON.stringify(authorization).slice(0, 50)}`, answer, { authorization }),
  )

/** A request whose token is not in the field that counts. */
const elsewhere = (line: string, parts: RequestParts): Case => ({
  name: `accepts no token from elsewhere: ${line} ${JSON.stringify(parts).slice(0, 90)}`,
  bytes: request({ line: `${line} HTTP/1.1`, authorization: null, ...parts }),
  answers: [40101],
})

/** A request with a token that only reads. */
const withScope = (line: string, answer: Expected, sent?: string): Case => ({
  name: `a read-only token sends ${line}`,
  bytes: request({
    line: `${line} HTTP/1.1`,
    authorization: `Bearer ${tokens.read}`,
    ...(sent === undefined ? {} : { body: sent }),
  }),
  answers: [answer],
})

const withoutScheme = [
  ...['', TOKEN, `Bearer${TOKEN}`, `BearerX ${TOKEN}`, `BearerX${TOKEN}`, `Beare ${TOKEN}`],
  ...[`Bearer\t${TOKEN}`, `Bearer\xa0${TOKEN}`, `Bearer=${TOKEN}`, `Bearer: ${TOKEN}`],
  ...[`Bearer,${TOKEN}`, `"Bearer" ${TOKEN}`, `x Bearer ${TOKEN}`, `, Bearer ${TOKEN}`],
  ...['Basic dXNlcjpwYXNz', `Basic dTpw, Bearer ${TOKEN}`, 'Digest username="a", response="b"'],
  ...[`Token ${TOKEN}`, `\xd0\x92earer ${TOKEN}`, ' '.repeat(8000), 'a'.repeat(8000)],
]

const withWrongToken = [
  ...['Bearer', 'Bearer ', 'Bearer pst_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'],
  ...[`Bearer ${tokens.expired}`, `Bearer ${tokens.revoked}`, `Bearer ${TOKEN.slice(0, -1)}`],
  ...[`Bearer ${TOKEN}f`, `Bearer ${TOKEN.toUpperCase()}`, `Bearer ${TOKEN}=`, 'Bearer ==='],
  ...[`Bearer test=${TOKEN.slice(5)}`, `Bearer "${TOKEN}"`, `Bearer token="${TOKEN}"`],
  ...[`Bearer ${TOKEN}, realm="plantstore"`, `Bearer ${TOKEN} ${TOKEN}`],
  ...[`Bearer ${TOKEN}, Bearer ${TOKEN}`, `Bearer Bearer ${TOKEN}`, `Bearer ${TOKEN}\xe9`],
  ...[`Bearer ${TOKEN.slice(0, 9)} ${TOKEN.slice(9)}`, `Bearer ${TOKEN.replace('t', '%74')}`],
  ...[`Bearer \xef\xbb\xbf${TOKEN}`, `Bearer ${Bun.SHA256.hash(TOKEN, 'hex')}`],
  ...['Bearer undefined', 'Bearer __proto__', "Bearer ' OR 1=1 --", 'Bearer *'],
  ...[`Bearer ${'a'.repeat(8192)}`, `Bearer a${'='.repeat(8192)}`, `Bearer ${'a '.repeat(4000)}`],
]

/** Every shape of credentials. */
export const auth: readonly Case[] = [
  ...reads('accepts the token', fern, `Bearer ${TOKEN}`, `bearer ${TOKEN}`, `bEaReR  ${TOKEN}`),
  ...reads('accepts the token', fern, `Bearer ${' '.repeat(8000)}${TOKEN}`, `\tBearer ${TOKEN}\t`),
  ...reads('accepts a read-only token', fern, `Bearer ${tokens.read}`),
  read('accepts the field name in any case, without a space before the value', fern, {
    authorization: null,
    fields: [`aUTHORIZATION:Bearer ${TOKEN}`],
  }),
  read('refuses a request without credentials', 40101, { authorization: null }),
  ...reads('refuses credentials without a scheme', 40101, ...withoutScheme),
  ...reads('refuses a wrong token', 40102, ...withWrongToken),
  ...reads('closes', 431, `Bearer ${'a'.repeat(20_000)}`),
  ...reads('closes', 400, `Bearer ${TOKEN}\0`),
  read('refuses the same credentials twice', 40102, { fields: [`Authorization: Bearer ${TOKEN}`] }),
  read('refuses a wrong token before the right one', 40102, {
    authorization: 'Bearer wrong',
    fields: [`Authorization: Bearer ${TOKEN}`],
  }),
  read('refuses a wrong token after the right one', 40102, {
    fields: ['Authorization: Bearer wrong'],
  }),
  read('refuses Basic before the right credentials', 40101, {
    authorization: 'Basic dTpw',
    fields: [`Authorization: Bearer ${TOKEN}`],
  }),
  ...[
    `Proxy-Authorization: Bearer ${TOKEN}`,
    `X-Forwarded-Authorization: Bearer ${TOKEN}`,
    `Authorization_: Bearer ${TOKEN}`,
    `X-API-Key: ${TOKEN}`,
    `Cookie: access_token=${TOKEN}; Authorization=Bearer ${TOKEN}`,
    `Sec-WebSocket-Protocol: bearer, ${TOKEN}`,
  ].map((field) => elsewhere('GET /plants/1', { fields: [field] })),
  elsewhere(`GET /plants/1?access_token=${TOKEN}`, {}),
  elsewhere(`GET http://x:${TOKEN}@localhost/plants/1`, {}),
  elsewhere(`POST /plants?access_token=${TOKEN}`, { body }),
  elsewhere('POST /plants', {
    type: 'application/x-www-form-urlencoded',
    body: `access_token=${TOKEN}`,
  }),
  elsewhere('POST /plants', { body: `{"id":10,"name":"a","access_token":"${TOKEN}"}` }),
  withScope('POST /plants', 40301, body),
  withScope('POST /plants/batch', 40301, batch),
  withScope('PUT /plants/batch', 40301, batch),
  withScope('PATCH /plants/batch', 40301, batch),
  withScope('POST /plants/batch-delete', 40301, batch),
  withScope('PUT /plants/1', 40301, '{"name":"b"}'),
  withScope('PATCH /plants/1', 40301, '{"name":"b"}'),
  withScope('DELETE /plants/1', 40301),
  withScope('GET /plants?limit=1', [
    200,
    '{"plants":[{"id":1,"name":"Fern","tag":"green"}],"next":null}',
  ]),
  withScope('GET /tags', [200, '{"tags":[{"tag":"green","plants":1}],"next":null}']),
]
