// The choice among the hosts of a URL.
import { expect, test } from 'bun:test'
import {
  type Candidate,
  chooseForCommand,
  chooseHost,
  chooseReadable,
  type Memory,
} from '../../../src/engine/postgres/connecting/hosts'

const hosts = {
  a: { host: 'a', port: 5432 },
  b: { host: 'b', port: 5432 },
  c: { host: 'c', port: 5432 },
}

const at = (
  name: keyof typeof hosts,
  { timeline = 1, isWritable = true, hasAll = true, cluster = '7' } = {},
): Candidate => ({
  host: hosts[name],
  standing: { isWritable, server: cluster && `${cluster} ${name}`, cluster, timeline },
  hasAll,
})

const NOTHING: Memory = { last: null, lostFor: 0 }
const after = (last: Candidate, lostFor = 0): Memory => ({ last, lostFor })

const used = (choice: Candidate | string) =>
  typeof choice === 'string' ? choice : choice.host.host

test('the newest timeline wins, wherever it stands in the URL', () => {
  const [old, promoted] = [at('a'), at('b', { timeline: 2 })]
  for (const seen of [
    [old, promoted],
    [promoted, old],
  ]) {
    expect(used(chooseHost(seen, NOTHING, true))).toBe('b')
    expect(used(chooseHost(seen, after(promoted), true))).toBe('b')
  }
})

test('a standby with a newer timeline shows that a host is an old primary', () => {
  const seen = [at('a'), at('c', { timeline: 2, isWritable: false })]
  expect(used(chooseHost(seen, NOTHING, false))).toContain('a:5432 accepts writes, but another')
})

test('two servers that cannot be told apart are refused, but for the one used last', () => {
  const seen = [at('a'), at('b')]
  const choice = used(chooseHost(seen, NOTHING, true))
  expect(choice).toContain('two servers accept writes, a:5432 and b:5432')
  expect(used(chooseHost(seen, after(at('b')), true))).toBe('b')
  expect(
    used(chooseHost([at('a', { cluster: '' }), at('b', { cluster: '' })], NOTHING, true)),
  ).toBe(choice)
})

test('the one that has every acknowledged write is used of two that cannot be told apart', () => {
  const seen = [at('a', { cluster: '8', hasAll: false }), at('b')]
  expect(used(chooseHost(seen, after(at('c')), true))).toBe('b')
})

test('a server without acknowledged writes is used after a minute, if no other has answered', () => {
  const last = at('b', { timeline: 2 })
  const seen = [at('a', { hasAll: false })]
  expect(used(chooseHost(seen, after(last, 59_000), false))).toContain('for 60 s')
  expect(used(chooseHost(seen, after(last, 60_000), false))).toBe('a')
})

test('a server that was promoted since is used after five seconds, or at once if all have answered', () => {
  const last = at('a')
  const seen = [at('b', { timeline: 2, hasAll: false })]
  expect(used(chooseHost(seen, after(last, 4900), false))).toContain('for 5 s')
  expect(used(chooseHost(seen, after(last, 5000), false))).toBe('b')
  const lacking = at('c', { isWritable: false, hasAll: false })
  expect(used(chooseHost([...seen, lacking], after(last), true))).toBe('b')
})

test('a standby that has every acknowledged write is waited for', () => {
  const seen = [at('a', { hasAll: false }), at('b', { isWritable: false })]
  expect(used(chooseHost(seen, after(at('a')), true))).toContain('a:5432 lacks acknowledged writes')
})

test('a new primary is refused while the old one alone has acknowledged writes', () => {
  const seen = [at('a'), at('b', { timeline: 2, hasAll: false })]
  const choice = used(chooseHost(seen, after(at('a'), 600_000), true))
  expect(choice).toContain('b:5432, lacks writes acknowledged by a:5432')
})

test('a daemon that only reads takes the first host, or the one used last, whether or not it takes writes', () => {
  const [standby, primary] = [at('a', { isWritable: false }), at('b')]

  expect(used(chooseReadable([standby, primary], NOTHING, true))).toBe('a')
  expect(used(chooseReadable([primary, standby], NOTHING, true))).toBe('b')
  expect(used(chooseReadable([standby, primary], after(primary), false))).toBe('b')
})

test('a daemon that only reads goes back to no older history', () => {
  const [old, promoted] = [at('a', { hasAll: false }), at('b', { timeline: 2 })]

  expect(used(chooseReadable([at('a'), promoted], NOTHING, true))).toBe('b')
  expect(used(chooseReadable([old], after(promoted, 1e6), true))).toContain('a:5432 lacks')
})

test('a command reads a standby only if the URL names no other host', () => {
  const [standby, primary] = [at('a', { isWritable: false }), at('b')]

  expect(used(chooseForCommand([standby], NOTHING, true))).toBe('a')
  expect(used(chooseForCommand([standby], NOTHING, false))).toBe('none can be used')
  expect(used(chooseForCommand([standby, primary], NOTHING, true))).toBe('b')
})
