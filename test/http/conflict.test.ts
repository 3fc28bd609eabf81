import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { ownDaemon } from '../harness/own-daemon'
import { expectError, storedPlants } from '../harness/plants'

const { daemon, database, stored } = ownDaemon()

test('distinguishes an earlier attempt that landed from another plant', async () => {
  await daemon.create('{"id":1,"name":"Rose","tag":"shrub"}')

  await expectError(await daemon.create('{"id":1,"name":"Rose","tag":"shrub"}'), 40901)
  await expectError(await daemon.create('{"tag":"shrub","x":1,"name":"Rose","id":1.0}'), 40901)
  await expectError(await daemon.create('{"id":1,"name":"rose","tag":"shrub"}'), 40902)
  await expectError(await daemon.create('{"id":1,"name":"Rose","tag":"tree"}'), 40902)
  await expectError(await daemon.create('{"id":1,"name":"Rose"}'), 40902)
  expect(stored(1n)).toEqual({ id: 1n, name: 'Rose', tag: 'shrub' })
})

test('distinguishes an empty tag from none', async () => {
  await daemon.create('{"id":2,"name":"Oak"}')
  await daemon.create('{"id":3,"name":"Ash","tag":""}')

  await expectError(await daemon.create('{"id":2,"name":"Oak"}'), 40901)
  await expectError(await daemon.create('{"id":2,"name":"Oak","tag":""}'), 40902)
  await expectError(await daemon.create('{"id":3,"name":"Ash"}'), 40902)
  expect(stored(2n)?.tag).toBeNull()
  expect(stored(3n)?.tag).toBe('')
})

test('creates one of many simultaneous plants with the same id', async () => {
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => daemon.create(`{"id":4,"name":"Elm ${index}"}`)),
  )

  const created = answers.filter(({ status }) => status === 200)
  expect(created).toHaveLength(1)
  expect(await created[0]?.json()).toEqual({ name: stored(4n)?.name })
  for (const answer of answers) {
    if (answer.status !== 200) await expectError(answer, 40902)
  }
})

test('answers 200 to one of many tries of the same create, and 40901 to the others', async () => {
  const tries = Array.from({ length: 50 }, () => daemon.create('{"id":5,"name":"Yew"}'))
  const answers = await Promise.all(tries)

  const refused = answers.filter(({ status }) => status !== 200)
  expect(refused).toHaveLength(49)
  for (const answer of refused) await expectError(answer, 40901)
})

test('refuses in a shared commit only the create that fails, and loses none of the others', async () => {
  const commits = () => daemon.metric('plantstore_commit_changes_count')
  await daemon.create('{"id":1000,"name":"Fig"}')
  const before = await commits()

  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      const id = index % 10 === 0 ? 1000 : 1000 + index
      return { id, answer: await daemon.create(`{"id":${id},"name":"Palm"}`) }
    }),
  )

  for (const { id, answer } of answers) {
    if (id === 1000) await expectError(answer, 40902)
    else expect(answer.status).toBe(200)
  }
  expect(storedPlants(database).filter(({ name }) => name === 'Palm')).toHaveLength(180)
  // Were each create a commit of its own, the others would not be at stake.
  expect(await commits()).toBeLessThan(before + 200)
})

test('refuses in a shared commit only the create that the database itself refuses', async () => {
  const db = new Database(database)
  db.run("ALTER TABLE plants ADD COLUMN weeds TEXT CHECK (name <> 'Weed')")
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      daemon.create(`{"id":${2000 + index},"name":"${index === 7 ? 'Weed' : 'Herb'}"}`),
    ),
  )
  db.run('ALTER TABLE plants DROP COLUMN weeds')
  db.close(true)

  for (const [index, answer] of answers.entries()) {
    if (index === 7) await expectError(answer, 50001)
    else expect(answer.status).toBe(200)
  }
  expect(storedPlants(database).filter(({ name }) => name === 'Herb')).toHaveLength(19)
  expect(stored(2007n)).toBeUndefined()
  expect(await daemon.event('unexpected')).toMatchObject({
    level: 'error',
    detail: "SQLITE_CONSTRAINT_CHECK CHECK constraint failed: name <> 'Weed'",
  })
  expect(daemon.events().filter(({ event }) => event === 'unexpected')).toHaveLength(1)
})
