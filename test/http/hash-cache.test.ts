import { expect, test } from 'bun:test'
import { createHashCache } from '../../src/http/tokens/hash-cache'

test('hashes a token once, and again only after as many others were used', () => {
  const hashed: string[] = []
  const cache = createHashCache(3, (token) => {
    hashed.push(token)
    return `hash of ${token}`
  })
  const use = (token: string) => {
    const hash = cache.hashOf(token, (sent) => sent)
    cache.keep(token, hash)
    return hash
  }

  for (const token of ['a', 'b', 'c', 'a', 'b', 'c']) expect(use(token)).toBe(`hash of ${token}`)
  expect(hashed).toEqual(['a', 'b', 'c'])
  use('d')
  for (const token of ['b', 'c', 'd']) use(token)
  expect(hashed).toEqual(['a', 'b', 'c', 'd'])
  use('a')
  expect(hashed).toEqual(['a', 'b', 'c', 'd', 'a'])
})

test('does not remember a token that was not found', () => {
  let hashed = 0
  const cache = createHashCache(3, () => `${hashed++}`)
  const check = (sent: string) => sent.trim()

  expect([cache.hashOf(' a', check), cache.hashOf(' a', check)]).toEqual(['0', '1'])
})

test('checks a text before it is hashed', () => {
  const cache = createHashCache()
  const refuse = () => {
    throw new Error('refused')
  }

  expect(() => cache.hashOf('no token', refuse)).toThrow('refused')
})
