// Proxies in front of the daemon, as their packages bring them.
import { join } from 'node:path'
import { freePort } from '../../../tools/free-port.ts'
import { type Daemon, serve } from './daemon.ts'
import { comesTrue, type Fault } from './fault.ts'
import { after, need, startServer } from './lab.ts'
import { stopWell } from './verify.ts'

/** Starts nginx with its own defaults: HTTP/1.0 and `Connection: close` to the daemon. Resolves to its port. */
async function startNginx(folder: string, daemon: Daemon): Promise<number> {
  const port = freePort()
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  await Bun.write(
    join(folder, 'nginx.conf'),
    `user root;
daemon off;
pid ${folder}/nginx.pid;
error_log ${folder}/nginx.log;
events {}
http {
  access_log off;
  client_max_body_size 16m;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass http://127.0.0.1:${daemon.port}; }
  }
}
`,
  )
  const child = startServer('nginx', '-p', folder, '-c', join(folder, 'nginx.conf'))
  // Its first process ends the others.
  after(() => child.stop())
  const health = `http://127.0.0.1:${port}/health`
  const listens = () =>
    fetch(health).then(
      ({ ok }) => ok,
      () => false,
    )
  if (!(await comesTrue(10_000, listens))) throw new Error('nginx does not listen')
  return port
}

type Refusal = readonly [
  error: number,
  method: string,
  path: string,
  headers: Record<string, string>,
]

const json = { 'content-type': 'application/json' }

function refusals({ token }: Daemon): Refusal[] {
  const authorized = { ...json, authorization: `Bearer ${token}` }
  return [
    [40101, 'POST', '/plants', json],
    [40102, 'POST', '/plants/batch', { ...json, authorization: 'Bearer unknown' }],
    [41501, 'PUT', '/plants/1', { ...authorized, 'content-type': 'text/plain' }],
    [41501, 'POST', '/plants', { ...authorized, 'content-encoding': 'gzip' }],
    [40101, 'DELETE', '/plants/1', json],
    [40401, 'POST', '/nowhere', json],
    [40501, 'PATCH', '/plants', authorized],
    [40501, 'PUT', '/health', json],
  ]
}

const SIZES = [20_000, 60_000, 200_000, 900_000]
const ROUNDS = 10
const CLIENTS = 8

export const proxyFaults: Fault[] = [
  {
    name: 'nginx-refusals',
    about: 'refused bodies of 20 to 900 KB behind nginx, which closes each connection',
    async run(folder, report) {
      await need('nginx')
      const daemon = await serve(join(folder, 'plants.db'))
      const port = await startNginx(folder, daemon)
      const left = refusals(daemon).flatMap((refusal) =>
        SIZES.flatMap((size) => Array.from({ length: ROUNDS }, () => ({ refusal, size }))),
      )
      const client = async () => {
        for (let next = left.pop(); next; next = left.pop()) {
          const [error, method, path, headers] = next.refusal
          const body = Buffer.alloc(next.size, ' ')
          const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body })
          const isRight = new RegExp(`"error":${error}\\b`).test(await answer.text())
          report.expect(isRight, `${error} came as ${answer.status}`)
        }
      }
      await Promise.all(Array.from({ length: CLIENTS }, client))
      await stopWell(daemon, report)
    },
  },
]
