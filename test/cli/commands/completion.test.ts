import { expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { PATIENCE_MS, program, runProgram, temporaryFolder } from '../../harness/daemon'

setDefaultTimeout(PATIENCE_MS)

const asFunction = program.map((word) => `'${word}'`).join(' ')

/** The completions of bash for the last word of a command line. */
async function completed(line: string): Promise<string[]> {
  using folder = temporaryFolder()
  const { out } = await runProgram(['completion', 'bash'])
  await Bun.write(folder.file('script'), out)
  const words = line.split(' ')
  const script = `
    plantstore() { ${asFunction} "$@"; }
    source ./script
    touch 'my plants.csv'; mkdir -p folder
    COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
    COMP_CWORD=${words.length - 1}
    _plantstore
    printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, stderr } = Bun.spawnSync(['bash', '-c', script], { cwd: folder.path })
  expect(stderr.toString()).toBe('')
  return stdout.toString().trim().split('\n')
}

test('completes commands, options and values in bash', async () => {
  expect(await completed('plantstore re')).toEqual(['restore'])
  expect(await completed('plantstore serve --max')).toEqual(['--max-body-bytes'])
  expect(await completed('plantstore token cr')).toEqual(['create'])
  expect(await completed('plantstore export --format ')).toEqual(['ndjson', 'csv'])
  expect(await completed('plantstore completion f')).toEqual(['fish'])
  expect(await completed('plantstore help he')).toEqual(['health'])
})

test('completes files in bash, and keeps a name with spaces whole', async () => {
  expect(await completed('plantstore import scr')).toEqual(['script'])
  expect(await completed('plantstore import my')).toEqual(['my plants.csv'])
  expect(await completed('plantstore serve --database my')).toEqual(['my plants.csv'])
  expect(await completed('plantstore serve --database = my')).toEqual(['my plants.csv'])
})

test('completes nothing but files after --database, and folders after --backup-folder', async () => {
  expect((await completed('plantstore serve --database ')).toSorted()).toEqual([
    'folder',
    'my plants.csv',
    'script',
  ])
  expect(await completed('plantstore serve --backup-folder ')).toEqual(['folder'])
})

test('completes no files for an option that takes a word or a number', async () => {
  expect(await completed('plantstore token ')).toEqual(['create', 'list', 'revoke', 'prune'])
  expect(await completed('plantstore token create my')).toEqual([''])
  expect(await completed('plantstore serve --port ')).toEqual([''])
  expect(await completed('plantstore my')).toEqual([''])
})

test('completes the flags of the program', async () => {
  expect(await completed('plantstore -')).toEqual(['--help', '--version'])
  expect(await completed('plantstore --v')).toEqual(['--version'])
  expect(await completed('plantstore ')).not.toContain('--help')
})

test('completes only flags that the action takes', async () => {
  const ofAll = ['--database', '--help']
  const own = {
    create: ['--scope', '--expires', '--output'],
    list: ['--json'],
    revoke: [],
    prune: ['--older-than'],
  }
  for (const [action, flags] of Object.entries(own)) {
    const offered = await completed(`plantstore token ${action} --`)
    expect({ action, offered: offered.toSorted() }).toEqual({
      action,
      offered: [...flags, ...ofAll].toSorted(),
    })
    // Each is taken: what is refused is the database.
    for (const flag of flags) {
      const value = { '--scope': 'read', '--json': '', '--output': 'new' }[flag] ?? '1d'
      const words = ['token', action, ...(action === 'create' ? ['a'] : []), flag, value]
      const { err } = await runProgram([
        ...words.filter(Boolean),
        '--database',
        '/nowhere/plants.db',
      ])
      expect(err).toStartWith('plantstore: no database at /nowhere/')
    }
  }
  expect(await completed('plantstore token --database x revoke --s')).toEqual([''])
  expect(await completed('plantstore token revoke --scope ')).toEqual(['--database', '--help'])
  expect(await completed('plantstore token --database x ')).toEqual(Object.keys(own))
})

/** The completions of zsh for a command line: the arguments of its script to zsh's own functions. */
async function completedByZsh(line: string): Promise<string[]> {
  using folder = temporaryFolder()
  const { out } = await runProgram(['completion', 'zsh'])
  await Bun.write(folder.file('script'), out)
  const words = line.split(' ').map((word) => `'${word}'`)
  const script = `
    plantstore() { ${asFunction} "$@"; }
    compdef() { : }
    _describe() { print -rl -- "\${(@P)2}" }
    _files() { print -r -- files $@ }
    source ./script
    words=(${words.join(' ')}); CURRENT=${words.length}
    _plantstore`
  const { stdout } = Bun.spawnSync(['zsh', '-f', '-c', script], { cwd: folder.path })
  return stdout
    .toString()
    .trim()
    .split('\n')
    .map((line) => line.split(':')[0] ?? '')
}

test.skipIf(Bun.which('zsh') === null)('completes the same in zsh', async () => {
  expect(await completedByZsh('plantstore re')).toEqual(['restore'])
  expect(await completedByZsh('plantstore -')).toEqual(['--help', '--version'])
  expect(await completedByZsh('plantstore token list --j')).toEqual(['--json'])
  expect(await completedByZsh('plantstore import m')).toEqual(['files'])
  expect(await completedByZsh('plantstore serve --backup-folder ')).toEqual(['files -/'])
})

/** The completions of fish for a command line. */
async function completedByFish(line: string): Promise<string[]> {
  using folder = temporaryFolder()
  const { out } = await runProgram(['completion', 'fish'])
  await Bun.write(folder.file('script.fish'), out)
  const command = `function plantstore; ${asFunction} $argv; end; touch 'my plants.csv'; source script.fish; complete -C '${line}'`
  const env = { ...process.env, HOME: folder.path }
  const { stdout } = Bun.spawnSync(['fish', '-N', '-c', command], { cwd: folder.path, env })
  return stdout
    .toString()
    .trim()
    .split('\n')
    .map((line) => line.split('\t')[0] ?? '')
}

test.skipIf(Bun.which('fish') === null)('completes the same in fish', async () => {
  expect(await completedByFish('plantstore re')).toEqual(['restore'])
  expect(await completedByFish('plantstore token ')).toEqual(['create', 'list', 'prune', 'revoke'])
  expect(await completedByFish('plantstore token create m')).toEqual([''])
  expect(await completedByFish('plantstore import m')).toEqual(['my plants.csv'])
  expect(await completedByFish('plantstore export --format ')).toEqual(['csv', 'ndjson'])
  expect(await completedByFish('plantstore serve --database m')).toEqual(['my plants.csv'])
  expect(await completedByFish('plantstore serve --port m')).toEqual([''])
  expect(await completedByFish('plantstore -')).toEqual(['--help', '--version'])
  expect(await completedByFish('plantstore token list --j')).toEqual(['--json'])
})

test('says for each shell where its script goes', async () => {
  const { out } = await runProgram(['completion', '--help'])

  for (const place of ['bash-completion/completions', 'fpath', '.config/fish/completions']) {
    expect(out).toContain(place)
  }
})

test('the commands in its help install the scripts, and create their folders', async () => {
  using folder = temporaryFolder()
  const { out } = await runProgram(['completion', '--help'])
  const lines = out.split('\n').filter((line) => line.startsWith('  '))
  const steps = lines.slice(
    0,
    lines.findIndex((line) => line.includes('--help')),
  )
  const script = `set -e; plantstore() { ${asFunction} "$@"; }\n${steps.join('\n')}`
  const { stderr } = Bun.spawnSync(['bash', '-c', script], {
    cwd: folder.path,
    env: { ...process.env, HOME: folder.path },
  })

  expect(stderr.toString()).toBe('')
  for (const file of [
    '.local/share/bash-completion/completions/plantstore',
    '.zfunc/_plantstore',
    '.config/fish/completions/plantstore.fish',
  ]) {
    expect(existsSync(folder.file(file))).toBe(true)
  }
})

const syntaxOf = [
  ['bash', ['bash', '-n']],
  ['zsh', ['zsh', '-n']],
  ['fish', ['fish', '--no-execute']],
] as const

for (const [shell, check] of syntaxOf) {
  test.skipIf(Bun.which(shell) === null)(`prints a script that ${shell} can read`, async () => {
    using folder = temporaryFolder()
    const { out, code } = await runProgram(['completion', shell])
    await Bun.write(folder.file('script'), out)
    const { stderr } = Bun.spawnSync([...check, folder.file('script')])

    expect({ stderr: stderr.toString(), code }).toEqual({ stderr: '', code: 0 })
    expect(out).toContain('plantstore completion for')
  })
}

test('refuses a shell that it does not know', async () => {
  const { err, code } = await runProgram(['completion', 'csh'])
  expect({ err, code }).toEqual({
    err: 'plantstore: give one shell: bash, zsh or fish; see "plantstore completion --help"\n',
    code: 2,
  })
})

test.each([['version'], ['-V']])('prints its version: %s', async (word) => {
  const { out, code } = await runProgram([word])
  expect(out).toMatch(/^plantstore \d+\.\d+\.\d+ \(commit \S+\)\n$/)
  expect(code).toBe(0)
})

test('prints the help of a command that follows the word help', async () => {
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
