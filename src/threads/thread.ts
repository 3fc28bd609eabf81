// Starts the threads of the executable. Their entries are the other files of this folder: loading one starts its work.

/** Starts a thread. In the executable, this file and the entries are beside each other too: see build.ts. */
export const startThread = (name: 'committing' | 'checking'): Worker =>
  new Worker(new URL(`./${name}.ts`, import.meta.url).href, { smol: true })
