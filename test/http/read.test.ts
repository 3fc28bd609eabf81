import { expect, test } from 'bun:test'
import { ownDaemon } from '../harness/own-daemon'
import { expectError } from '../harness/plants'

const { daemon } = ownDaemon()

const read = (id: string) => daemon.fetch(`/plants/${id}`)
const textOf = async (id: string) => (await read(id)).text()

test('reads a plant with the exact digits of its id', async () => {
  await daemon.create('{"id":-9223372036854775808,"name":"Rose","tag":"shrub"}')
  await daemon.create('{"id":9007199254740993,"name":""}')

  const answer = await read('-9223372036854775808')

  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('application/json')
  expect(await answer.text()).toBe('{"id":-9223372036854775808,"name":"Rose","tag":"shrub"}')
  expect(await textOf('9007199254740993')).toBe('{"id":9007199254740993,"name":""}')
})

test('distinguishes a plant from its neighbours beyond 2^53', async () => {
  await expectError(await read('9007199254740992'), 40402)
  await expectError(await read('9007199254740994'), 40402)
  await expectError(await read('-9223372036854775807'), 40402)
})

test.each([
  'x',
  '1.0',
  '1e3',
  '+1',
  '--1',
  '0x10',
  '%201',
  '1%00',
  '9223372036854775808',
  '-9223372036854775809',
  '00000000000000000000000001',
  '٣',
])('refuses the id %s', async (id) => {
  const message = await expectError(await read(id), 40002)

  expect(message).toStartWith('id: expected')
  await expectError(await daemon.fetch(`/plants/${id}`, { method: 'DELETE' }), 40002)
  await expectError(
    await daemon.fetch(`/plants/${id}`, { method: 'PUT', json: { name: 'a' } }),
    40002,
  )
})

test('a read sees answered changes: created, replaced, deleted', async () => {
  for (let round = 0; round < 20; round++) {
    const id = 100 + round
    await daemon.create(`{"id":${id},"name":"a"}`)
    expect(await textOf(`${id}`)).toBe(`{"id":${id},"name":"a"}`)
    await daemon.fetch(`/plants/${id}`, { method: 'PUT', json: { name: 'b', tag: 'c' } })
    expect(await textOf(`${id}`)).toBe(`{"id":${id},"name":"b","tag":"c"}`)
    expect(await (await daemon.fetch(`/plants?after=${id - 1}&limit=1`)).text()).toContain(`"b"`)
    await daemon.fetch(`/plants/${id}`, { method: 'DELETE' })
    await expectError(await read(`${id}`), 40402)
  }
})

test('a read sees answered changes while many clients write', async () => {
  await Promise.all(
    Array.from({ length: 100 }, async (_, index) => {
      const id = 1000 + index
      expect((await daemon.create(`{"id":${id},"name":"${index}"}`)).status).toBe(200)
      expect(await textOf(`${id}`)).toBe(`{"id":${id},"name":"${index}"}`)
    }),
  )
})
