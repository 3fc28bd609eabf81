/** This program, as it is started again: the executable, or Bun with the source. */
export const ownProgram = (): readonly string[] =>
  Bun.isStandaloneExecutable ? [process.execPath] : [process.execPath, Bun.main]
