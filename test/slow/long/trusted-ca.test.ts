// The variables of Node.js about certificates.
import { expect, test } from 'bun:test'
import { makeCa } from '../../harness/certificates'
import { runProgram, TOKEN } from '../../harness/daemon'
import { own } from '../../harness/own'
import { ownFolder } from '../../harness/own-folder'

const folder = ownFolder()
const ca = own(() => makeCa(folder, 'ca'))

const serve = (tls: { cert: string; key: string }) =>
  Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    tls,
    fetch: () => Response.json({ changes: [], next: 'x' }),
  })

test('NODE_EXTRA_CA_CERTS names a CA to trust; NODE_TLS_REJECT_UNAUTHORIZED changes nothing', async () => {
  await using mine = serve(ca.sign('IP:127.0.0.1'))
  await using other = serve(ca.sign('DNS:other.example'))
  const run = async (port: number | undefined, more: Record<string, string>) => {
    const env = { PLANTSTORE_TOKEN: TOKEN, ...more }
    const { err, code } = await runProgram(['changes', '--url', `https://127.0.0.1:${port}`], {
      env,
    })
    return { err, code }
  }
  const trusting = { NODE_EXTRA_CA_CERTS: ca.cert }

  expect(await run(mine.port, trusting)).toEqual({ err: '', code: 0 })
  expect(await run(other.port, trusting)).toEqual({
    err: `plantstore: the certificate of https://127.0.0.1:${other.port} is refused (ERR_TLS_CERT_ALTNAME_INVALID); to trust a CA, set NODE_EXTRA_CA_CERTS to the file of its certificate (PEM)\n`,
    code: 1,
  })
  expect(await run(mine.port, { NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toEqual({
    err: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
    code: 1,
  })
})
