import { expect, setDefaultTimeout, test } from 'bun:test'
import { closeSync, constants, openSync, readFileSync, readSync } from 'node:fs'
import { createLogWriter } from '../../src/daemon/log-writer'
import { PATIENCE_MS, program, TOKEN, temporaryFolder } from '../harness/daemon'
import { until } from '../harness/until'

setDefaultTimeout(PATIENCE_MS)

const notice = (lines: number) => `dropped ${lines}\n`

/** A pipe whose reader reads only when it is told to. */
function openPipe(path: string, flags = constants.O_RDWR) {
  expect(Bun.spawnSync(['mkfifo', path]).exitCode).toBe(0)
  const reader = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  const fd = openSync(path, flags)
  const buffer = Buffer.alloc(65_536)
  const read = (): string => {
    try {
      return buffer.toString('utf8', 0, readSync(reader, buffer))
    } catch {
      return ''
    }
  }
  return {
    fd,
    read,
    /** Reads until that matches; returns all that was read. */
    async readUntil(pattern: RegExp): Promise<string> {
      let text = ''
      return until(`output that matches ${pattern}`, () => {
        for (let more = read(); more !== ''; more = read()) text += more
        return pattern.test(text) && text
      })
    },
    [Symbol.dispose]: () => {
      closeSync(fd)
      closeSync(reader)
    },
  }
}

test('the log has every line in order', async () => {
  using folder = temporaryFolder()
  const file = folder.file('log')
  const fd = openSync(file, 'a')
  const lines = Array.from({ length: 5000 }, (_, index) => `line ${index} ☘\n`)

  const writer = createLogWriter(fd, notice)
  for (const line of lines) writer.write(line)

  expect(await writer.flush(10_000)).toBeTrue()
  closeSync(fd)
  expect(readFileSync(file, 'utf8')).toBe(lines.join(''))
})

test('the writer does not wait for a reader that stops, and reports the lines dropped', async () => {
  using folder = temporaryFolder()
  using pipe = openPipe(folder.file('pipe'))
  const writer = createLogWriter(pipe.fd, notice)
  const lines = Array.from({ length: 20_000 }, (_, index) =>
    `${index}`.padStart(99, ' ').concat('\n'),
  )
  for (const line of lines) writer.write(line)

  expect(await writer.flush(50)).toBeFalse()
  let text = ''
  await until('the end of the queue', () => {
    text += pipe.read()
    return writer.flush(0)
  })
  const dropped = Number(/^dropped (\d+)$/m.exec(text)?.[1])
  expect(dropped).toBeGreaterThan(lines.length / 3)
  expect(dropped).toBeLessThan(lines.length)

  const kept = lines.slice(0, lines.length - dropped)
  writer.write('next\n')
  const rest = await pipe.readUntil(/next\n$/)

  const all = (text + rest).split('\n')
  expect(all.filter((line) => line.startsWith('dropped'))).toEqual([`dropped ${dropped}`])
  expect(all.filter((line) => /\d$/.test(line) && !line.startsWith('dropped'))).toEqual(
    kept.map((line) => line.trimEnd()),
  )
  writer.write('last\n')
  expect(await pipe.readUntil(/last\n$/)).toBe('last\n')
})

test('the lines of two programs do not mix in a pipe', async () => {
  using folder = temporaryFolder()
  using pipe = openPipe(folder.file('pipe'))
  const writers = ['a', 'b'].map((name) => ({ name, writer: createLogWriter(pipe.fd, notice) }))
  for (let line = 0; line < 2000; line++) {
    for (const { name, writer } of writers) writer.write(`${name.repeat(99)}\n`)
  }
  for (const { name, writer } of writers) writer.write(`end ${name}\n`)

  const text = await pipe.readUntil(/end a\n(.|\n)*end b\n|end b\n(.|\n)*end a\n/)

  const mixed = text
    .trimEnd()
    .split('\n')
    .filter((line) => !/^(a{99}|b{99}|end [ab])$/.test(line))
  expect(mixed).toEqual([])
})

test('the writer waits for a pipe that another program made non-blocking', async () => {
  using folder = temporaryFolder()
  using pipe = openPipe(folder.file('pipe'), constants.O_RDWR | constants.O_NONBLOCK)
  const writer = createLogWriter(pipe.fd, notice)
  const lines = Array.from({ length: 5000 }, () => `${'x'.repeat(99)}\n`)
  for (const line of [...lines, 'end\n']) writer.write(line)

  const text = await pipe.readUntil(/end\n$/)

  expect(text.length).toBe(lines.join('').length + 'end\n'.length)
  expect(await writer.flush(0)).toBeTrue()
})

test('the writer reports that a full disk has rejected lines', async () => {
  const fd = openSync('/dev/full', 'w')
  const writer = createLogWriter(fd, notice)
  writer.write('one\n')
  writer.write('two\n')

  expect(await writer.flush(10_000)).toBeFalse()

  closeSync(fd)
})

test('the daemon serves and stops even if its log is not read', async () => {
  using folder = temporaryFolder()
  using pipe = openPipe(folder.file('pipe'))
  const args = ['--port', '0', '--database', folder.file('plants.db'), '--log-requests']
  const child = Bun.spawn([...program, 'serve', ...args], {
    env: { PATH: Bun.env.PATH ?? '', PLANTSTORE_TOKEN: TOKEN },
    stdout: 'pipe',
    stderr: pipe.fd,
  })
  const { value } = await child.stdout.getReader().read()
  const [url] = /http:\S+/.exec(Buffer.from(value ?? []).toString()) ?? []
  const headers = { authorization: `Bearer ${TOKEN}` }
  const longPath = `${url}/${'x'.repeat(2000)}`

  for (let round = 0; round < 50; round++) {
    const responses = Array.from({ length: 20 }, () => fetch(longPath, { headers }))
    for (const { status } of await Promise.all(responses)) expect(status).toBe(404)
  }
  // It is read again, and then no more.
  let log = ''
  await until('a request in the log', async () => {
    await fetch(`${url}/health`)
    log += pipe.read()
    return log.includes('"/health"')
  })
  const notices = [...log.matchAll(/"level":"warn","event":"log-dropped","lines":(\d+)}\n/g)]
  expect(notices.reduce((sum, [, lines]) => sum + Number(lines), 0)).toBeGreaterThan(0)
  for (let round = 0; round < 50; round++) {
    await Promise.all(Array.from({ length: 20 }, () => fetch(longPath, { headers })))
  }
  child.kill('SIGTERM')
  expect(await child.exited).toBe(0)
})
