import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** The token that daemons of tests are given. */
export const TOKEN = 'test_0123456789abcdef'

/** The folder of the repository. */
export const root = resolve(import.meta.dir, '..', '..')

/** For `setDefaultTimeout`: only a test that hangs takes so long, on however slow a machine. */
export const PATIENCE_MS = 60_000

/** The command line of the program: the built one of `PLANTSTORE_BINARY`, or the source. */
export const program: readonly string[] = Bun.env.PLANTSTORE_BINARY
  ? [resolve(root, Bun.env.PLANTSTORE_BINARY)]
  : [process.execPath, join(root, 'src/main.ts')]

/** A folder that is gone when the block that holds it is left: `using folder = temporaryFolder()`. */
export function temporaryFolder() {
  const path = mkdtempSync(join(tmpdir(), 'plantstore-'))
  return {
    path,
    file: (name: string) => join(path, name),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  }
}

// Of the environment only what a process needs: a variable of the machine must not configure a test.
const baseEnv = () => ({ PATH: Bun.env.PATH ?? '', HOME: Bun.env.HOME ?? '' })

export type RunOptions = {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string | Blob
  /** A command that runs the program: `['setpriv', '--reuid=65534']`. */
  readonly under?: readonly string[]
}

/** Runs a command of the program to its end. */
export async function runProgram(args: readonly string[], options: RunOptions = {}) {
  const child = Bun.spawn([...(options.under ?? []), ...program, ...args], {
    ...(options.cwd ? { cwd: options.cwd } : {}),
    env: { ...baseEnv(), ...options.env },
    stdin: options.stdin === undefined ? 'ignore' : new Blob([options.stdin]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { out, err, code }
}

export type DaemonOptions = RunOptions & {
  readonly args?: readonly string[]
  readonly database?: string
}

export type LogLine = { readonly event: string; readonly [field: string]: unknown }

export type Daemon = Awaited<ReturnType<typeof startDaemon>>

/** Starts a daemon on a free port and waits until it listens. `await using daemon = await startDaemon(…)` kills it in the end. */
export async function startDaemon(options: DaemonOptions = {}) {
  const child = Bun.spawn(
    [
      ...(options.under ?? []),
      ...program,
      'serve',
      '--port',
      '0',
      ...(options.database ? ['--database', options.database] : []),
      ...(options.args ?? []),
    ],
    {
      ...(options.cwd ? { cwd: options.cwd } : {}),
      env: { ...baseEnv(), PLANTSTORE_TOKEN: TOKEN, ...options.env },
      stdout: 'pipe',
      stderr: 'pipe',
    },
  )
  let out = ''
  let err = ''
  const follow = async (stream: ReadableStream<Uint8Array>, add: (text: string) => void) => {
    const decoder = new TextDecoder()
    for await (const chunk of stream) add(decoder.decode(chunk, { stream: true }))
  }
  const followed = Promise.all([
    follow(child.stdout, (text) => {
      out += text
    }),
    follow(child.stderr, (text) => {
      err += text
    }),
  ])
  const events = (): LogLine[] =>
    err
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line))
  const event = (name: string) => events().find((line) => line.event === name)

  while (!event('listening') || !out.includes('listens on')) {
    if (child.exitCode !== null) {
      await followed
      throw new Error(`the daemon ended with exit code ${child.exitCode}: ${err}`)
    }
    await Bun.sleep(2)
  }
  const url = String(event('listening')?.url)
  const auth = { authorization: `Bearer ${options.env?.PLANTSTORE_TOKEN ?? TOKEN}` }

  return {
    url,
    pid: child.pid,
    /** Resolves to the exit code, whatever ends it. */
    exited: child.exited,
    /** What it has written to standard output so far. */
    out: () => out,
    /** What it has written to standard error so far. */
    err: () => err,
    events,
    /** Sends a request with the token; a body that is not a string is sent as JSON. */
    fetch(path: string, init: RequestInit & { json?: unknown } = {}): Promise<Response> {
      const { json, ...rest } = init
      return fetch(`${url}${path}`, {
        ...rest,
        ...(json === undefined
          ? {}
          : { body: JSON.stringify(json), method: rest.method ?? 'POST' }),
        headers: { ...auth, 'content-type': 'application/json', ...(rest.headers as object) },
      })
    },
    /** Creates a plant by the text of its JSON, as int64 ids need it. */
    create(body: string): Promise<Response> {
      return this.fetch('/plants', { method: 'POST', body })
    },
    /** Sends a signal and waits for the end; resolves to the exit code. */
    async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number> {
      child.kill(signal)
      const code = await child.exited
      await followed
      return code
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}
