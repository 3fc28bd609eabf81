// A proxy of tests: it passes plain requests and tunnels on, and keeps every byte that it was sent.
import { connect } from 'node:net'
import { listenTcp } from './tcp-server'

/** The action of a proxy for a request: pass it on, or answer with this status line. */
type Policy = 'pass' | `${number} ${string}`

/** Starts a proxy for `http:` and `https:`. `using proxy = await startProxy()` stops it. */
export async function startProxy(policy: Policy = 'pass') {
  const seen: string[] = []
  const server = await listenTcp((client) => {
    client.on('data', (bytes) => seen.push(bytes.toString('latin1')))
    client.once('data', (first) => {
      const [line = ''] = first.toString('latin1').split('\r\n')
      const [, method, target = ''] = /^(\w+) (\S+)/.exec(line) ?? []
      if (policy !== 'pass') {
        client.end(`HTTP/1.1 ${policy}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`)
        return
      }
      const url = new URL(method === 'CONNECT' ? `http://${target}` : target)
      const far = connect(Number(url.port || 80), url.hostname, () => {
        if (method === 'CONNECT') client.write('HTTP/1.1 200 OK\r\n\r\n')
        else far.write(first)
        client.pipe(far).pipe(client)
      })
      far.on('error', () => client.destroy())
      client.on('close', () => far.destroy())
    })
  })
  const url = `http://${server.host}`
  return {
    ...server,
    url,
    /** All that was sent to it. */
    seen: () => seen.join(''),
    /** The environment that names it, in every way. */
    env: Object.fromEntries(
      ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => [
        [name, url],
        [name.toLowerCase(), url],
      ]),
    ),
  }
}
