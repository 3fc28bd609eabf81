import { expect, test } from 'bun:test'
import { isLoopback, proxyFor } from '../../src/outbound/proxies'

const ONE = 'http://one.example:3128'
const TWO = 'http://two.example:3128'
const choose = async (url: string, except = '') =>
  (await proxyFor(new URL(url), { http: ONE, https: TWO, except }))?.origin ?? null

test.each([
  'http://127.0.0.1:3000',
  'http://127.1:3000',
  'http://0x7f.1',
  'http://2130706433',
  'http://127.255.255.254',
  'http://localhost',
  'http://LOCALHOST.:3000',
  'http://plants.localhost',
  'http://[::1]:3000',
  'http://[0:0:0:0:0:0:0:1]',
  'http://[::ffff:127.0.0.1]',
  'http://0.0.0.0:3000',
  'http://[::]:3000',
])('asks this machine directly: %s', async (url) => {
  expect(await choose(url)).toBeNull()
  expect(await choose(url.replace('http:', 'https:'))).toBeNull()
})

test.each([
  '127.0.0.1.example.org',
  '127.example',
  'localhost.example',
  '128.0.0.1',
  '[::127.0.0.1]',
])('does not take %s for this machine', (host) => {
  expect(isLoopback(new URL(`http://${host}`))).toBe(false)
})

test('goes by the scheme of the URL', async () => {
  expect(await choose('http://plants.example')).toBe(ONE)
  expect(await choose('https://plants.example')).toBe(TWO)
})

test('takes a proxy without a scheme for http, and none for an empty text', async () => {
  const url = new URL('http://plants.example')
  const bare = { http: 'one.example:3128', https: '', except: '' }

  expect((await proxyFor(url, bare))?.origin).toBe(ONE)
  expect(await proxyFor(url, { ...bare, http: '' })).toBeNull()
})

test.each([
  ['*', 'http://plants.example', true],
  ['plants.example', 'http://plants.example', true],
  ['other, Plants.Example', 'http://plants.example', true],
  ['example', 'http://plants.example', true],
  ['.example', 'http://plants.example', true],
  ['*.example', 'http://plants.example', true],
  ['lants.example', 'http://plants.example', false],
  ['plants.example:80', 'http://plants.example', true],
  ['plants.example:443', 'https://plants.example', true],
  ['plants.example:3000', 'http://plants.example', false],
  ['10.1.2.3', 'http://10.1.2.3', true],
  ['10.0.0.0/8', 'http://10.1.2.3', true],
  ['10.0.0.0/8', 'http://11.1.2.3', false],
  ['10.0.0.0/99', 'http://10.1.2.3', false],
  ['fd00::/8', 'http://[fd12::1]', true],
  ['fd12::1', 'http://[fd12::1]', true],
  ['fd00::/8', 'http://10.1.2.3', false],
  [', ,', 'http://plants.example', false],
])('NO_PROXY=%s and %s: asked directly: %p', async (except, url, isDirect) => {
  expect((await choose(url, except)) === null).toBe(isDirect)
})
