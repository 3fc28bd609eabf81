import { expect, test } from 'bun:test'
import { ownDaemon } from '../harness/own-daemon'
import { expectError, storedPlants } from '../harness/plants'

const { daemon, database, stored } = ownDaemon()

test('one of many simultaneous plants with the same id is created', async () => {
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

test('a batch can be sent again until one attempt lands', async () => {
  const plants = Array.from({ length: 10 }, (_, index) => ({ id: 7000 + index, name: 'Moss' }))
  const attempts = Array.from({ length: 10 }, () =>
    daemon.fetch('/plants/batch', { json: { plants } }),
  )
  const answers = await Promise.all(attempts)

  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  for (const answer of answers) if (answer.status !== 200) await expectError(answer, 40901)
  expect(storedPlants(database).filter(({ name }) => name === 'Moss')).toHaveLength(10)
})

test('a read sees answered changes while many clients write', async () => {
  await Promise.all(
    Array.from({ length: 100 }, async (_, index) => {
      const plant = `{"id":${8000 + index},"name":"${index}"}`
      expect((await daemon.create(plant)).status).toBe(200)
      expect(await (await daemon.fetch(`/plants/${8000 + index}`)).text()).toBe(plant)
    }),
  )
})

test('only the create that fails is refused in a shared commit, and none of the others is lost', async () => {
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
