// Builds one self-contained executable: `bun build.ts [--target bun-linux-arm64] [--outfile dist/plantstore]`.
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  args: Bun.argv.slice(2),
  options: {
    target: { type: 'string' },
    outfile: { type: 'string', default: 'dist/plantstore' },
    metafile: { type: 'string' },
  },
})

const result = Bun.spawnSync(
  [
    process.execPath,
    'build',
    '--compile',
    // Bytecode halves the time to start, and needs ES modules.
    '--bytecode',
    '--format=esm',
    // Only an import of CSV loads the CSV parser.
    '--splitting',
    // Not --minify-identifiers: Elysia reads the source of its handlers to know what they use.
    '--minify-whitespace',
    '--minify-syntax',
    // The folder where it is started must not configure it.
    '--no-compile-autoload-dotenv',
    '--no-compile-autoload-bunfig',
    // Elysia needs it for file uploads only.
    '--external=file-type',
    ...(values.target ? [`--target=${values.target}`] : []),
    ...(values.metafile ? [`--metafile=${values.metafile}`] : []),
    // The executable has all files in one folder: that of the worker and its client.
    '--root=src/engine/sqlite',
    'src/main.ts',
    // The worker's file must be an entry of its own.
    'src/engine/sqlite/worker.ts',
    `--outfile=${values.outfile}`,
  ],
  { stdout: 'inherit', stderr: 'inherit', env: { ...process.env, NODE_ENV: 'production' } },
)
process.exit(result.exitCode)
