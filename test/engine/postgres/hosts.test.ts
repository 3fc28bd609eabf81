// The choice among the hosts of a URL.
import { expect, test } from 'bun:test'
import {
  type Candidate,
  chooseForCommand,
  chooseHost,
  chooseReadable,
  type Memory,
} from '../../../src/engine/postgres/connection/hosts'

const HOSTS = {
  a: { host: 'a', port: 5432 },
  b: { host: 'b', port: 5432 },
  c: { host: 'c', port: 5432 },
}

const candidateAt = (
  name: keyof typeof HOSTS,
  { timeline = 1, isWritable = true, hasAll = true, cluster = '7' } = {},
): Candidate => ({
  host: HOSTS[name],
  standing: { isWritable, server: cluster && `${cluster} ${name}`, cluster, timeline },
  hasAll,
})

const NOTHING: Memory = { last: null, lostFor: 0 }
const memoryOf = (last: Candidate, lostFor = 0): Memory => ({ last, lostFor })

/** The host that a policy chooses, or its reason for none. By default, nothing is known and all hosts have answered. */
const hostBy =
  (policy: typeof chooseHost) =>
  (candidates: readonly Candidate[], memory = NOTHING, haveAllAnswered = true): string => {
    const choice = policy(candidates, memory, haveAllAnswered)
    return typeof choice === 'string' ? choice : choice.host.host
  }
const hostFor = hostBy(chooseHost)
const readableHostFor = hostBy(chooseReadable)
const commandHostFor = hostBy(chooseForCommand)

test('the newest timeline wins, wherever it stands in the URL', () => {
  const [old, promoted] = [candidateAt('a'), candidateAt('b', { timeline: 2 })]
  for (const candidates of [
    [old, promoted],
    [promoted, old],
  ]) {
    expect(hostFor(candidates)).toBe('b')
    expect(hostFor(candidates, memoryOf(promoted))).toBe('b')
  }
})

test('a standby with a newer timeline shows that a host is an old primary', () => {
  const candidates = [candidateAt('a'), candidateAt('c', { timeline: 2, isWritable: false })]
  expect(hostFor(candidates, NOTHING, false)).toContain('a:5432 accepts writes, but another')
})

test('two servers that cannot be distinguished are refused, except the one used last', () => {
  const candidates = [candidateAt('a'), candidateAt('b')]
  const choice = hostFor(candidates)
  expect(choice).toContain('two servers accept writes, a:5432 and b:5432')
  expect(hostFor(candidates, memoryOf(candidateAt('b')))).toBe('b')
  expect(hostFor([candidateAt('a', { cluster: '' }), candidateAt('b', { cluster: '' })])).toBe(
    choice,
  )
})

test('the server with every acknowledged write is used if two cannot be distinguished', () => {
  const candidates = [candidateAt('a', { cluster: '8', hasAll: false }), candidateAt('b')]
  expect(hostFor(candidates, memoryOf(candidateAt('c')))).toBe('b')
})

test('a server without acknowledged writes is used after a minute, if no other has responded', () => {
  const last = candidateAt('b', { timeline: 2 })
  const candidates = [candidateAt('a', { hasAll: false })]
  expect(hostFor(candidates, memoryOf(last, 59_000), false)).toContain('for 60 s')
  expect(hostFor(candidates, memoryOf(last, 60_000), false)).toBe('a')
})

test('a newly promoted server is used after five seconds, or at once if all have responded', () => {
  const last = candidateAt('a')
  const candidates = [candidateAt('b', { timeline: 2, hasAll: false })]
  expect(hostFor(candidates, memoryOf(last, 4900), false)).toContain('for 5 s')
  expect(hostFor(candidates, memoryOf(last, 5000), false)).toBe('b')
  const lacking = candidateAt('c', { isWritable: false, hasAll: false })
  expect(hostFor([...candidates, lacking], memoryOf(last))).toBe('b')
})

test('the daemon waits for a standby that has every acknowledged write', () => {
  const candidates = [candidateAt('a', { hasAll: false }), candidateAt('b', { isWritable: false })]
  expect(hostFor(candidates, memoryOf(candidateAt('a')))).toContain(
    'a:5432 lacks acknowledged writes',
  )
})

test('a new primary is refused while the old one alone has acknowledged writes', () => {
  const candidates = [candidateAt('a'), candidateAt('b', { timeline: 2, hasAll: false })]
  const choice = hostFor(candidates, memoryOf(candidateAt('a'), 600_000))
  expect(choice).toContain('b:5432, the newer, lacks some of a:5432')
})

test('a read-only daemon uses the first host, or the one used last, whether or not it accepts writes', () => {
  const [standby, primary] = [candidateAt('a', { isWritable: false }), candidateAt('b')]

  expect(readableHostFor([standby, primary])).toBe('a')
  expect(readableHostFor([primary, standby])).toBe('b')
  expect(readableHostFor([standby, primary], memoryOf(primary), false)).toBe('b')
})

test('a read-only daemon never returns to an older history', () => {
  const [old, promoted] = [candidateAt('a', { hasAll: false }), candidateAt('b', { timeline: 2 })]

  expect(readableHostFor([candidateAt('a'), promoted])).toBe('b')
  expect(readableHostFor([old], memoryOf(promoted, 1e6))).toContain('a:5432 lacks')
})

test('a command reads a standby only if the URL names no other host', () => {
  const [standby, primary] = [candidateAt('a', { isWritable: false }), candidateAt('b')]

  expect(commandHostFor([standby])).toBe('a')
  expect(commandHostFor([standby], NOTHING, false)).toBe('none can be used')
  expect(commandHostFor([standby, primary])).toBe('b')
})
