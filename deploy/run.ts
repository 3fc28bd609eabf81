// Runs a program of the machine, such as git or gzip.

type RunOptions = { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv }

/** Runs a program to its end; returns what it prints. Throws with what it says if it fails. */
export function run(command: readonly string[], options: RunOptions = {}) {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], options)
  if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${stdout}${stderr}`)
  return new Uint8Array(stdout)
}
