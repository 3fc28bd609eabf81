import { join } from 'node:path'
import { type Answer, connect, once, pour, request } from '../../harness/http.ts'
import { memoryLimit } from './cgroup.ts'
import { type Daemon, serve } from './daemon.ts'
import { comesTrue, count, type Fault, Skipped, tally } from './fault.ts'
import { after, need, sh } from './lab.ts'
import { acknowledged, bodyOf, bulky, fateOf, settle, startLoad } from './load.ts'
import { judge, megabytes, pressed } from './pressure.ts'
import { faultsOf, verify } from './verify.ts'

const hundredMegabytes = 100 * 1024 * 1024

function bigBodies(daemon: Daemon): Promise<(Answer | undefined)[]> {
  const part = Buffer.alloc(64 * 1024, 'x')
  const times = hundredMegabytes / part.length
  const head = `POST /plants HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`
  const authorized = `${head}Authorization: Bearer ${daemon.token}\r\n`
  const chunked = Buffer.concat([Buffer.from('10000\r\n'), part, Buffer.from('\r\n')])
  const length = `Content-Length: ${hundredMegabytes}\r\n\r\n`
  const all = Array.from({ length: 6 }, () => [
    pour(daemon.port, authorized + length, part, times),
    pour(
      daemon.port,
      `${authorized}Transfer-Encoding: chunked\r\n\r\n`,
      chunked,
      times,
      '0\r\n\r\n',
    ),
  ])
  return Promise.all(all.flat())
}

function send(daemon: Daemon, body: string): Promise<Answer | undefined> {
  return once(daemon.port, request('POST', '/plants', daemon.token, body))
}

function withMore(n: number, more: string): string {
  return `${bodyOf(n).slice(0, -1)},${more}}`
}

export const memoryFaults: Fault[] = [
  {
    name: 'memory-bodies',
    about: 'bodies of 100 MB at once, with a length and chunked',
    run(folder) {
      return pressed(folder, this.about, async (daemon) =>
        judge('request', await bigBodies(daemon), [41301]),
      )
    },
  },
  {
    name: 'memory-refused',
    about: '256 clients that send refused bodies of 900 KB, over and over',
    run(folder) {
      return pressed(folder, this.about, async (daemon) => {
        const part = Buffer.alloc(60 * 1024, 'x')
        const head = `POST /plants HTTP/1.1\r\nHost: x\r\nContent-Length: ${15 * part.length}\r\n\r\n`
        const answers = await Promise.all(
          Array.from({ length: 256 }, async () => {
            const all: (Answer | undefined)[] = []
            for (let more = 0; more < 10; more++) all.push(await pour(daemon.port, head, part, 15))
            return all
          }),
        )
        return judge('request', answers.flat(), [40101])
      })
    },
  },
  {
    name: 'memory-unfinished',
    about: '4000 clients that send a body of 4 KiB but for its last byte',
    async run(folder) {
      await need('prlimit')
      const files = '--nofile=10000:10000'
      await sh('prlimit', '--pid', `${process.pid}`, files)
      const press = async (daemon: Daemon) => {
        const body = `{"id":1e9,"name":"${'x'.repeat(4096)}`.slice(0, 4096)
        const unfinished = request('POST', '/plants', daemon.token, body).slice(0, -1)
        const connections = await Promise.all(
          Array.from({ length: 4000 }, () => connect(daemon.port)),
        )
        for (const connection of connections) connection.write(unfinished)
        await Bun.sleep(1000)
        const meanwhile = await send(daemon, bodyOf(1))
        const answers = await Promise.all(connections.map((connection) => connection.send('x')))
        for (const connection of connections) connection.end()
        return judge('request', [meanwhile, ...answers], [200, 40001])
      }
      return pressed(folder, this.about, press, { wrap: ['prlimit', files] })
    },
  },
  {
    name: 'memory-keys',
    about: 'a million keys in one object, and as many as fit into 1 MiB by 16 clients at once',
    run(folder) {
      return pressed(folder, this.about, async (daemon, ledger) => {
        const keys = Array.from({ length: 1e6 }, (_, i) => `"_${i.toString(36)}":0`)
        const million = await send(daemon, withMore(1, keys.join(',')))
        const fitting = keys.slice(0, 90_000).join(',')
        const answers = await Promise.all(
          Array.from({ length: 16 }, async (_, i) => {
            const answer = await send(daemon, withMore(i + 1, fitting))
            ledger.set(i + 1, fateOf(answer))
            return answer
          }),
        )
        const problems = million?.status === 413 ? [] : [`a million: ${million?.status}`]
        const judged = judge('request', answers, [200])
        return { many: judged.many, problems: [...problems, ...judged.problems] }
      })
    },
  },
  {
    name: 'memory-nesting',
    about: '100,000 levels of nesting, in an unknown field and in the name',
    run(folder) {
      return pressed(folder, this.about, async (daemon, ledger) => {
        const arrays = '['.repeat(1e5) + ']'.repeat(1e5)
        const objects = `${'{"a":'.repeat(1e5)}1${'}'.repeat(1e5)}`
        const answers: (Answer | undefined)[] = []
        for (const [i, deep] of [arrays, objects].entries()) {
          const unknown = await send(daemon, withMore(i + 1, `"deep":${deep}`))
          ledger.set(i + 1, fateOf(unknown))
          answers.push(unknown, await send(daemon, `{"id":${i + 1},"name":${deep}}`))
          answers.push(await send(daemon, deep))
        }
        return judge('request', answers, [200, 40001, 40002])
      })
    },
  },
  {
    name: 'memory-queue',
    about: '150 clients with plants of 900 KB, while each fsync takes 300 ms more',
    async run(folder) {
      await need('strace')
      const slow = ['-e', 'inject=fsync,fdatasync:delay_enter=300000']
      const strace = ['strace', '-D', '-f', '-qq', '--seccomp-bpf', '-o', '/dev/null']
      return pressed(
        folder,
        this.about,
        async (daemon, ledger) => {
          const answers = await Promise.all(
            Array.from({ length: 150 }, async (_, i) => {
              const n = bulky + i
              const connection = await connect(daemon.port)
              const body = bodyOf(n)
              const answer = await connection.send(request('POST', '/plants', daemon.token, body))
              connection.end()
              ledger.set(n, fateOf(answer))
              return answer
            }),
          )
          const judged = judge('plant', answers, [200, 50301])
          const refused = answers.filter((answer) => answer?.status === 503)
          if (refused.length === 0) judged.problems.push('its bound was not reached')
          if (refused.some((answer) => !/^\d+$/.test(answer?.headers['retry-after'] ?? ''))) {
            judged.problems.push('50301 without Retry-After')
          }
          return judged
        },
        // On a busy machine what strace holds up is killed at 128 MB every second time.
        { wrap: [...strace, '-e', 'trace=fsync,fdatasync', ...slow], megabytes: 256 },
      )
    },
  },
  {
    name: 'memory-lists',
    about: '8 clients that list 100 plants of 900 KB each, over and over',
    run(folder) {
      return pressed(folder, this.about, async (daemon, ledger) => {
        for (let n = bulky; n < bulky + 100; n++) {
          ledger.set(n, fateOf(await send(daemon, bodyOf(n))))
        }
        const list = request('GET', '/plants?limit=1000', daemon.token)
        const answers = await Promise.all(
          Array.from({ length: 8 }, async () => {
            const connection = await connect(daemon.port)
            let answer = await connection.send(list)
            for (let more = 0; more < 5; more++) answer = await connection.send(list)
            connection.end()
            return answer
          }),
        )
        return judge('list', answers, [200])
      })
    },
  },
  {
    name: 'memory-kill',
    about: 'killed by the kernel for want of memory, under load',
    async run(folder) {
      await need()
      const limit = memoryLimit(megabytes)
      if (limit === undefined) throw new Skipped('no control group for memory here')
      const database = join(folder, 'plants.db')
      let daemon = await serve(database, { wrap: limit.wrap })
      await Bun.write(`/proc/${daemon.pid}/oom_score_adj`, '1000')
      const load = startLoad(daemon)
      const problems: string[] = []
      if (!(await acknowledged(load.ledger, 200, 10_000))) problems.push('too slow')
      // It keeps a line without an end in memory.
      const hog = Bun.spawn([...limit.wrap, 'tail', '/dev/zero'], { stdout: 'ignore' })
      after(() => hog.kill('SIGKILL'))
      if (!(await comesTrue(10_000, () => !daemon.alive()))) problems.push('it was not killed')
      hog.kill('SIGKILL')
      await daemon.kill()
      await load.stop()
      problems.push(...faultsOf(verify(database, load.ledger)))
      daemon = await serve(database)
      await settle(daemon, load.ledger)
      if ((await daemon.stop()) !== 0) problems.push('a bad exit code')
      const verdict = verify(database, load.ledger)
      problems.push(...faultsOf(verdict))
      return {
        tried: this.about,
        many: `${count(tally(load.ledger).stored, 'plant')} acknowledged`,
        lost: `${verdict.lost} lost`,
        problems,
      }
    },
  },
]
