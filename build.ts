// Builds one self-contained executable: `bun build.ts [--target bun-linux-arm64] [--outfile dist/plantstore]`.
import { parseArgs } from 'node:util'
import { commitOf } from './build-commit'
import { buildPages, updatePages } from './build-pages'

const { values } = parseArgs({
  args: Bun.argv.slice(2),
  options: {
    // A benchmark builds its servers as plantstore is built.
    entry: { type: 'string', default: 'src/main.ts' },
    target: { type: 'string' },
    outfile: { type: 'string', default: 'dist/plantstore' },
    metafile: { type: 'string' },
    // For a folder without Git.
    commit: { type: 'string' },
  },
})

// The packages of the pages are parts of the executable too.
if (!values.metafile) await updatePages()
const pageInputs = values.metafile ? await buildPages() : {}

const result = Bun.spawnSync(
  [
    process.execPath,
    'build',
    '--compile',
    // Bytecode halves the time to start, and needs ES modules.
    '--bytecode',
    '--format=esm',
    // Places what a start uses side by side, which saves 2 MB of memory. A file of an older build still helps; to record
    // one, start the executable with BUN_BYTECODE_ORDER_OUT=FILE, create and read a plant, stop it, and keep the lines of
    // FILE with v, F and M.
    `--bytecode-order=${import.meta.dir}/bytecode-order.txt`,
    // A command loads only what it uses, but not in small pieces: each costs more than what it leaves out.
    '--splitting',
    '--min-chunk-size=16384',
    // Not --minify-identifiers: Elysia reads the source of its handlers to know what they use.
    '--minify-whitespace',
    '--minify-syntax',
    // Code that runs once stays in the interpreter: the program ends this once it has started.
    '--compile-jit-policy=8',
    // The folder where it is started must not configure it.
    '--no-compile-autoload-dotenv',
    '--no-compile-autoload-bunfig',
    `--define=BUILD_COMMIT=${JSON.stringify(values.commit ?? commitOf(import.meta.dir))}`,
    // Elysia needs it for file uploads only.
    '--external=file-type',
    ...(values.target ? [`--target=${values.target}`] : []),
    ...(values.metafile ? [`--metafile=${values.metafile}`] : []),
    // The executable has all files in one folder: those of threads, and what starts them.
    '--entry-naming=[name].[ext]',
    values.entry,
    // Workers must be entry points.
    'src/engine/sqlite/committer.ts',
    'src/engine/sqlite/backup-thread.ts',
    'src/cli/import/workbook-worker.ts',
    `--outfile=${values.outfile}`,
  ],
  { stdout: 'inherit', stderr: 'inherit', env: { ...process.env, NODE_ENV: 'production' } },
)
if (result.exitCode === 0 && values.metafile) {
  const metafile = await Bun.file(values.metafile).json()
  Object.assign(metafile.inputs, pageInputs)
  await Bun.write(values.metafile, JSON.stringify(metafile))
}
process.exit(result.exitCode)
