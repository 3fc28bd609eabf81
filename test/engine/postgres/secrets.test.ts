// No message shows the password, whatever the server answers.
import { expect, setDefaultTimeout, test } from 'bun:test'
import { PATIENCE_MS, runProgram } from '../../harness/daemon'
import { listenTcp } from '../../harness/tcp-server'

setDefaultTimeout(PATIENCE_MS)

const PASSWORD = 'Pass/Secret'
const ENCODED = encodeURIComponent(PASSWORD)

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

/** A message of the protocol (https://www.postgresql.org/docs/current/protocol-message-formats.html). */
function message(type: string, ...parts: readonly (string | number)[]): Buffer {
  const body = Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : int32(part))),
  )
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

const errorOf = (code: string, text: string): Buffer =>
  message('E', `SFATAL\0VFATAL\0${code ? `C${code}\0` : ''}M${text}\0\0`)

/** The answers of a server to the messages that it receives, in turn. */
type Script = readonly ((received: Buffer) => Buffer)[]

const serve = (script: Script) =>
  listenTcp((socket) => {
    let step = 0
    socket.on('data', (received: Buffer) => {
      const answer = script[step++]
      if (answer) socket.write(answer(received))
    })
  })

const answerWith =
  (answer: Buffer | string): (() => Buffer) =>
  () =>
    Buffer.from(answer)
const NO_POSTGRES = 'not a PostgreSQL server; check the host and the port'
const TLS = '&sslmode=verify-full'

const FAILURES: [name: string, reason: string, script: Script, parameters?: string][] = [
  [
    'repeats the password that it was sent',
    'echo of … (XX000)',
    [
      answerWith(message('R', 3)),
      (received) => errorOf('XX000', `echo of ${received.subarray(5, -1)}`),
    ],
  ],
  [
    'repeats it without a code',
    'Tenant … not found',
    [answerWith(errorOf('', `Tenant ${PASSWORD} not found`))],
  ],
  [
    'shows a URL',
    'see https://pooler.example.org (XX000)',
    [answerWith(errorOf('XX000', 'see https://pooler.example.org/project?key=Secret'))],
  ],
  [
    'wants GSSAPI',
    'GSSAPI authentication is not supported (ERR_POSTGRES_UNSUPPORTED_AUTHENTICATION_METHOD)',
    [answerWith(message('R', 7))],
  ],
  [
    'wants an unknown authentication',
    'Unknown authentication method (ERR_POSTGRES_UNKNOWN_AUTHENTICATION_METHOD)',
    [answerWith(message('R', 99))],
  ],
  [
    'has no mechanism of SASL',
    "none of the server's SASL authentication mechanisms are supported (ERR_POSTGRES_SASL_NO_KNOWN_MECHANISM)",
    [answerWith(message('R', 10, 'OTHER\0\0'))],
  ],
  [
    'breaks SASL off',
    NO_POSTGRES,
    [answerWith(message('R', 10, 'SCRAM-SHA-256\0\0')), answerWith(message('R', 11, 'garbage'))],
  ],
  ['sends a length that is none', NO_POSTGRES, [answerWith(Buffer.from('R\0\0\0\x01abcd'))]],
  ['speaks HTTP', 'no answer within 1 s', [answerWith('HTTP/1.1 400 Bad Request\r\n\r\n')]],
  ['is silent', 'no answer within 1 s', []],
  ['answers TLS with something else', NO_POSTGRES, [answerWith('X')], TLS],
  [
    'breaks TLS off',
    'error:100000f7:SSL routines:OPENSSL_internal:WRONG_VERSION_NUMBER (EPROTO)',
    [answerWith('S'), answerWith('garbage')],
    TLS,
  ],
  [
    'refuses the version of TLS',
    'error:1000042e:SSL routines:OPENSSL_internal:TLSV1_ALERT_PROTOCOL_VERSION (EPROTO)',
    [answerWith('S'), answerWith(Buffer.from('15030300020246', 'hex'))],
    TLS,
  ],
]

test.each(FAILURES)('a server that %s: %s', async (_, reason, script, parameters = '') => {
  using server = await serve(script)
  const url = `postgres://me:${ENCODED}@${server.host}/plants?connect_timeout=1${parameters}`

  const { out, err, code } = await runProgram(['check'], { env: { PLANTSTORE_DATABASE: url } })

  expect({ out, err, code }).toEqual({
    out: '',
    err: `plantstore: cannot connect to PostgreSQL at ${server.host}: ${reason}\n`,
    code: 1,
  })
  for (const secret of [PASSWORD, ENCODED, 'Secret']) expect(err).not.toContain(secret)
})

test('a client certificate or a CA that is not PEM is refused', async () => {
  for (const parameter of ['sslrootcert', 'sslcert']) {
    const file = `${import.meta.path}${parameter === 'sslcert' ? `&sslkey=${import.meta.path}` : ''}`
    const url = `postgres://me:${ENCODED}@127.0.0.1:1/plants?sslmode=verify-full&${parameter}=${file}`
    const { err } = await runProgram(['check'], { env: { PLANTSTORE_DATABASE: url } })

    expect(err).toMatch(
      /^plantstore: cannot connect to PostgreSQL at 127.0.0.1:1: .+ \(ERR_BORINGSSL\)\n$/,
    )
  }
})
