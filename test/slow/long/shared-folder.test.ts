// Commands that write in a folder where any user may.
import { expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { AS_NOBODY, importLines, lines } from '../../harness/commands'
import { runProgram, temporaryFolder } from '../../harness/daemon'

const isRoot = process.getuid?.() === 0

test.skipIf(!isRoot)(
  'a command in a shared folder writes to no name that another user could have made first',
  async () => {
    using folder = temporaryFolder()
    const [database, copy] = [folder.file('plants.db'), folder.file('copy.db')]
    await importLines(database, lines(0, 10))
    await runProgram(['backup', copy, '--database', database])
    chmodSync(folder.path, 0o755)
    const shared = folder.file('shared')
    mkdirSync(shared)
    chmodSync(shared, 0o1777)
    const target = folder.file('elsewhere')
    writeFileSync(target, 'precious')
    const plant = `for pid in $(seq 1 40000); do echo ${shared}/x.$pid.tmp; done | xargs touch
      ln -s ${target} ${shared}/link.ndjson; ln -s ${folder.file('none')} ${shared}/plants.db
      ln -s ${folder.file('none')} ${shared}/copy.db; mkfifo ${shared}/pipe`
    expect(Bun.spawnSync([...AS_NOBODY, 'sh', '-c', plant]).exitCode).toBe(0)

    const made = await runProgram(['backup', `${shared}/x`, '--database', database])
    const refused = [
      await runProgram(['export', `${shared}/link.ndjson`, '--database', database]),
      await runProgram(['export', `${shared}/pipe`, '--format', 'csv', '--database', database]),
      await runProgram(['restore', copy, '--database', `${shared}/plants.db`]),
      await runProgram(['backup', `${shared}/copy.db`, '--database', database]),
    ]

    expect(made.code).toBe(0)
    const { uid, mode } = statSync(`${shared}/x`)
    expect({ uid, mode: mode & 0o777 }).toEqual({ uid: 0, mode: 0o600 })
    for (const { code, err } of refused) {
      expect(code).not.toBe(0)
      expect(err.split('\n')).toHaveLength(2)
    }
    expect(await Bun.file(target).text()).toBe('precious')
    expect(existsSync(folder.file('none'))).toBeFalse()
  },
)
