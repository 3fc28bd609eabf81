// Which errors of a server leave it open whether a commit was made.
import { expect, test } from 'bun:test'
import { SQL } from 'bun'
import { isInDoubt } from '../../../src/engine/postgres/connecting/errors'

const answered = (errno: string, severity: string) =>
  new SQL.PostgresError('x', { code: 'ERR_POSTGRES_SERVER_ERROR', errno, severity })

test("a server's answer ends a statement", () => {
  for (const state of ['53100', '58030', '40001', '23505', '57014']) {
    expect(isInDoubt(answered(state, 'ERROR'))).toBeFalse()
  }
})

test('a server that ends the connection, or itself, leaves a commit in doubt', () => {
  expect(isInDoubt(answered('57P01', 'FATAL'))).toBeTrue()
  // As where it cannot write or sync its WAL: the commit may be in it already, and come back with the recovery.
  for (const state of ['53100', '58030', 'XX000']) {
    expect(isInDoubt(answered(state, 'PANIC'))).toBeTrue()
    expect(isInDoubt(answered(state, 'FATAL'))).toBeTrue()
  }
  expect(isInDoubt(new Error('Connection closed'))).toBeTrue()
})
