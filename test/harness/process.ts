// Child processes of tests, with all that they print.
import { inTime } from './until'

export type ProcessOptions = {
  readonly cwd?: string
  /** Added to PATH and HOME, the only variables that a child inherits. */
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly stdin?: string | Blob
}

export type Process = ReturnType<typeof startProcess>

/** All that a process prints. */
function readOutput() {
  const printed = { out: '', err: '' }
  let isFinished = false
  let news = Promise.withResolvers<void>()
  const announce = () => {
    news.resolve()
    news = Promise.withResolvers()
  }
  return {
    printed,
    async follow(name: 'out' | 'err', stream: ReadableStream<Uint8Array>): Promise<void> {
      const decoder = new TextDecoder()
      for await (const chunk of stream) {
        printed[name] += decoder.decode(chunk, { stream: true })
        announce()
      }
      printed[name] += decoder.decode()
    },
    /** Call it when no more is printed. */
    finish(): void {
      isFinished = true
      announce()
    },
    /** Resolves to true once the output satisfies `holds`, to false if it ends before. */
    async satisfies(holds: () => boolean): Promise<boolean> {
      while (!holds()) {
        if (isFinished) return false
        await news.promise
      }
      return true
    },
  }
}

/** Starts a program. `await using child = startProcess(…)` kills it at the end of the block. */
export function startProcess(command: readonly string[], options: ProcessOptions = {}) {
  const child = Bun.spawn([...command], {
    ...(options.cwd ? { cwd: options.cwd } : {}),
    // A variable of this machine must not configure what is tested.
    env: { PATH: Bun.env.PATH ?? '', HOME: Bun.env.HOME ?? '', ...options.env },
    stdin: options.stdin === undefined ? 'ignore' : new Blob([options.stdin]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const { printed, follow, finish, satisfies } = readOutput()
  let isRunning = true
  const exited = child.exited.then((code) => {
    isRunning = false
    return code
  })
  const finished = Promise.all([
    exited,
    follow('out', child.stdout),
    follow('err', child.stderr),
  ]).then(([code]) => {
    finish()
    return code
  })
  /** Ends it at once, and waits until it is gone. */
  const kill = async () => {
    child.kill('SIGKILL')
    await exited
  }

  return {
    pid: child.pid,
    /** Resolves to the exit code when the process has ended. */
    exited,
    /** Resolves to the exit code when the process has ended and all its output is read. */
    finished,
    alive: () => isRunning,
    /** Standard output so far. */
    out: () => printed.out,
    /** Standard error so far. */
    err: () => printed.err,
    /**
     * Resolves to true once the output so far satisfies `holds`, to false if the process ends before; rejects, naming
     * `what`.
     */
    prints(holds: () => boolean, what = 'output', withinMs?: number): Promise<boolean> {
      const name = () => `${what} of ${command.join(' ')}: ${printed.out}${printed.err}`
      return inTime(name, satisfies(holds), withinMs)
    },
    /** Sends a signal, unless the process has ended. */
    signal: (name: NodeJS.Signals): void => child.kill(name),
    /** Sends a signal and waits for the end; resolves to the exit code. */
    stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number> {
      child.kill(signal)
      return finished
    },
    kill,
    [Symbol.asyncDispose]: kill,
  }
}

/** Runs a program to its end. */
export async function run(command: readonly string[], options: ProcessOptions = {}) {
  const child = startProcess(command, options)
  const code = await child.finished
  return { out: child.out(), err: child.err(), code }
}

/** Runs a program with this machine's environment; returns what it prints, and throws if it fails. */
export async function runWell(command: readonly string[], options: ProcessOptions = {}) {
  const env = { ...process.env, ...options.env }
  const { out, err, code } = await run(command, { ...options, env })
  if (code !== 0) throw new Error(`${command.join(' ')}: exit code ${code}: ${out}${err}`)
  return { out, err }
}
