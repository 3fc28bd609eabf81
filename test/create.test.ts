import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { startDaemon, temporaryFolder } from './daemon'

test('creates a plant, and answers its name and tag alone', async () => {
  using folder = temporaryFolder()
  const database = folder.file('plants.db')
  await using daemon = await startDaemon({ database })

  const answer = await daemon.create(
    '{"id":9223372036854775807,"name":"Monstera","tag":"aroid","x":1}',
  )

  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('application/json')
  expect(await answer.text()).toBe('{"name":"Monstera","tag":"aroid"}')
  const db = new Database(database, { readonly: true, safeIntegers: true })
  expect(db.query('SELECT * FROM plants').all()).toEqual([
    { id: 9223372036854775807n, name: 'Monstera', tag: 'aroid' },
  ])
  db.close()
})
