import { expect, setDefaultTimeout, test } from 'bun:test'
import { refusalOf } from '../../harness/commands'
import { PATIENCE_MS, program, runProgram, temporaryFolder } from '../../harness/daemon'

setDefaultTimeout(PATIENCE_MS)

const asFunction = program.map((word) => `'${word}'`).join(' ')

/** What a shell's script completes at the end of a command line, in a folder with files. */
async function completed(shell: string, line: string): Promise<string[]> {
  using folder = temporaryFolder()
  const { out } = await runProgram(['completion', shell])
  await Bun.write(folder.file('script'), out)
  await Bun.write(folder.file('my plants.csv'), '')
  const env = { PATH: Bun.env.PATH ?? '', HOME: folder.path }
  const words = line.split(' ')
  const script = `
    source ./script
    COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
    COMP_CWORD=${words.length - 1}
    _plantstore
    printf '%s\\n' "\${COMPREPLY[@]}"`
  const command = {
    bash: ['bash', '-c', script],
    // The arrays of bashcompinit begin with 0.
    zsh: ['zsh', '-f', '-c', `autoload -U compinit && compinit -u; emulate sh; ${script}`],
    fish: ['fish', '-N', '-c', `source script; complete -C '${line}'`],
  }[shell]
  const { stdout, stderr } = Bun.spawnSync(command ?? [], { cwd: folder.path, env })
  expect(stderr.toString()).toBe('')
  const lines = stdout.toString().trim().split('\n')
  const found = lines.map((line) => line.split('\t')[0] ?? '').toSorted()
  // In zsh, it is the shell that leaves out what does not fit.
  return shell === 'zsh' ? found.filter((word) => word.startsWith(words.at(-1) ?? '')) : found
}

const shells = ['bash', 'zsh', 'fish'].filter((shell) => Bun.which(shell) !== null)

test.each(shells)('commands, flags and files are completed in %s', async (shell) => {
  expect(await completed(shell, 'plantstore re')).toEqual(['restore'])
  expect(await completed(shell, 'plantstore serve --max')).toEqual(['--max-body-bytes'])
  expect(await completed(shell, 'plantstore export --f')).toEqual(['--format'])
  // Where nothing else fits, bash and zsh themselves complete files: `complete -o default`.
  const files = { bash: [''], zsh: [], fish: ['my plants.csv'] }[shell]
  expect(await completed(shell, 'plantstore import m')).toEqual(files ?? [])
})

test.each(shells.filter((shell) => shell !== 'fish'))(
  'the actions of a command are completed in %s',
  async (shell) => {
    expect(await completed(shell, 'plantstore token cr')).toEqual(['create'])
    expect(await completed(shell, 'plantstore completion f')).toEqual(['fish'])
    expect(await completed(shell, 'plantstore --v')).toEqual(['--version'])
  },
)

test.skipIf(Bun.which('bash') === null)('the line in the help works in bash', async () => {
  const { out } = await runProgram(['completion', '--help'])
  const [, line = 'false'] = /^ {2}(source .* bash\))$/m.exec(out) ?? []
  const script = `plantstore() { ${asFunction} "$@"; }\n${line}\ncomplete -p plantstore`

  const { stdout } = Bun.spawnSync(['bash', '-c', script])

  expect(stdout.toString()).toBe('complete -o default -F _plantstore plantstore\n')
})

test('an unknown shell is refused', async () => {
  expect(refusalOf(await runProgram(['completion', 'csh']), 2)).toBe(
    'give one shell: bash, zsh or fish; see "plantstore completion --help"',
  )
})

test('the word help before a command prints its help', async () => {
  const [byWord, byFlag] = await Promise.all([
    runProgram(['help', 'restore']),
    runProgram(['restore', '--help']),
  ])
  expect(byWord).toEqual(byFlag)
  for (const [word, hint] of [
    ['restroe', 'did you mean "restore"?'],
    // Words that are not commands have no help, and are not suggested.
    ['version', 'see "plantstore --help"'],
    ['help', 'see "plantstore --help"'],
  ]) {
    expect((await runProgram(['help', `${word}`])).err).toBe(
      `plantstore: unknown command "${word}"; ${hint}\n`,
    )
  }
})
