// Which errors of a server leave it open whether a commit was made.
import { expect, test } from 'bun:test'
import { SQL } from 'bun'
import { isInDoubt } from '../../../src/engine/postgres/connection/errors'

const answer = (errno: string, severity: string) =>
  new SQL.PostgresError('x', { code: 'ERR_POSTGRES_SERVER_ERROR', errno, severity })

test('an error returned by the server settles a statement', () => {
  for (const state of ['53100', '58030', '40001', '23505', '57014']) {
    expect(isInDoubt(answer(state, 'ERROR'))).toBeFalse()
  }
})

test('a server that closes the connection or exits leaves a commit in doubt', () => {
  expect(isInDoubt(answer('57P01', 'FATAL'))).toBeTrue()
  // As where it cannot write or sync its WAL: the commit may be in it already, and come back with the recovery.
  for (const state of ['53100', '58030', 'XX000']) {
    expect(isInDoubt(answer(state, 'PANIC'))).toBeTrue()
    expect(isInDoubt(answer(state, 'FATAL'))).toBeTrue()
  }
  expect(isInDoubt(new Error('Connection closed'))).toBeTrue()
})
