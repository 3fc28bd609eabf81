// Runs a command of this program as a separate process, which the daemon can end at any time.

export type Child = {
  /** Resolves to null if the command succeeds, else to the reason. */
  readonly problem: Promise<string | null>
  /** Ends it at once; resolves when it is gone. */
  kill(): Promise<void>
}

/** This program: the executable, or Bun with the source. */
const ownCommandLine = (): readonly string[] =>
  Bun.isStandaloneExecutable ? [process.execPath] : [process.execPath, Bun.main]

/** Starts a command. It inherits no environment, which may hold a token, and gets no signals from a terminal. */
export function startChild(args: readonly string[]): Child {
  const child = Bun.spawn([...ownCommandLine(), ...args], {
    env: {},
    detached: true,
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
  })
  const end = async () => {
    const [code, text] = await Promise.all([child.exited, new Response(child.stderr).text()])
    if (code === 0) return null
    const said = text.trim().replace(/^plantstore: /, '')
    return said || `the backup process ended with ${child.signalCode ?? `exit code ${code}`}`
  }
  return {
    problem: end(),
    async kill() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}
