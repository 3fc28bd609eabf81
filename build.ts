// Builds one self-contained executable: `bun build.ts [--target bun-linux-arm64] [--outfile dist/plantstore]`.
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  args: Bun.argv.slice(2),
  options: { target: { type: 'string' }, outfile: { type: 'string', default: 'dist/plantstore' } },
})

const result = Bun.spawnSync(
  [
    process.execPath,
    'build',
    '--compile',
    // Bytecode halves the time to start, and needs ES modules.
    '--bytecode',
    '--format=esm',
    // What only an import of CSV needs is not loaded by others.
    '--splitting',
    // Not the identifiers: Elysia reads the source of its handlers to know what they use.
    '--minify-whitespace',
    '--minify-syntax',
    // What lies in the folder where it is started is not its business.
    '--no-compile-autoload-dotenv',
    '--no-compile-autoload-bunfig',
    // Elysia reads files' types with it, for uploads: there are none here.
    '--external=file-type',
    ...(values.target ? [`--target=${values.target}`] : []),
    // The executable has all files in one folder, as the worker and its client are in `src/engine/sqlite`.
    '--root=src/engine/sqlite',
    'src/main.ts',
    // A Worker's file is found in the executable only if it is an entry of its own.
    'src/engine/sqlite/worker.ts',
    `--outfile=${values.outfile}`,
  ],
  { stdout: 'inherit', stderr: 'inherit', env: { ...process.env, NODE_ENV: 'production' } },
)
process.exit(result.exitCode)
