import { describe, expect, test } from 'bun:test'
import { decodeText, isEncoding } from '../../src/formats/encoding'
import { cut, read } from './reading'

const decode = async (bytes: Uint8Array, length: number, encoding: string | null = null) =>
  (await Array.fromAsync(decodeText(cut(bytes, length), encoding))).join('')

test.each(['utf-16le', 'utf-16be', 'utf-8'])(
  'a file of %s is read, wherever it is cut',
  async (encoding) => {
    const text = '\ufeffid\tname\n1\tné🌵\n'
    const bytes = Buffer.from(text, encoding === 'utf-8' ? 'utf8' : 'utf16le')
    if (encoding === 'utf-16be') bytes.swap16()
    for (const length of [1, 2, 3, 5, 100]) {
      expect((await read('csv', bytes, { length })).entries).toEqual([
        { line: 2, plant: { id: 1n, name: 'né🌵' } },
      ])
    }
  },
)

test('a file is read in the encoding that is named', async () => {
  const bytes = Buffer.from('Caf\x8e \x96', 'latin1')

  expect(await decode(bytes, 2, 'macintosh')).toBe('Café ñ')
  expect(await decode(bytes, 2, 'windows-1252')).toBe('CafŽ –')
})

test('knows the names of encodings', () => {
  for (const name of ['macintosh', 'Windows-1252', 'shift_jis', 'utf-8'])
    expect(isEncoding(name)).toBeTrue()
  expect(isEncoding('klingon')).toBeFalse()
})

describe('a text that is not UTF-8', () => {
  const lines = (end: string) => Array.from({ length: 5001 }, (_, n) => `${n},plant${end}`).join('')

  test.each([
    ['\n', 'Caf\x8e fern', 'macintosh'],
    ['\r\n', 'Caf\xe9 fern', 'windows-1252'],
    ['\r', 'Gr\x9f\xa7e', 'macintosh'],
    ['\n', 'G\xfcnsel \xbbRosea\xab', 'windows-1252'],
  ])('is named with its true line and as it reads: %j %j', async (end, word, encoding) => {
    const text = `${lines(end)}7,${word},x${end}8,more${end}`
    const bytes = Buffer.from(text, 'latin1')
    const begin = new TextDecoder(encoding as 'latin1').decode(
      Buffer.from(word.slice(0, word.search(/[^ -~]/) + 1), 'latin1'),
    )
    for (const length of [5, 64, 65_536]) {
      const message = await decode(bytes, length).catch(String)
      expect(message).toContain(`not UTF-8 at line 5002: it reads "7,${begin}`)
      expect(message).toEndWith(`use --encoding ${encoding}, or whichever it is`)
    }
    expect(await decode(bytes, bytes.length).catch(String)).toContain(
      `"7,${new TextDecoder(encoding as 'latin1').decode(Buffer.from(word, 'latin1'))},x" as ${encoding}`,
    )
  })

  test.each([
    ['a character that is cut off', [0x61, 0xc3], 'line 1'],
    ['a surrogate', [0x0a, 0xed, 0xa0, 0x80], 'line 2'],
    ['an overlong form', [0x0a, 0x0a, 0xc0, 0x80], 'line 3'],
    ['beyond Unicode', [0xf4, 0x90, 0x80, 0x80], 'line 1'],
  ])('is refused: %s', async (_, bytes, line) => {
    for (const length of [1, 100]) {
      expect(await decode(Uint8Array.from(bytes), length).catch(String)).toContain(
        `not UTF-8 at ${line}:`,
      )
    }
  })
})

test('a file that is not in the encoding that is named is refused', async () => {
  const bytes = Buffer.from('id,name\n1,a\n'.repeat(3), 'utf16le')

  expect(await decode(bytes.subarray(0, -1), 100, 'utf-16le').catch(String)).toContain(
    'not utf-16le, at line',
  )
})

test.each([
  // A space that does not break, after a word: Ê in Windows.
  ['macintosh', 'id,name\n1,Orchid\xca\n2,Fougre\xca\n'],
  // The first sign says little, the others all.
  ['macintosh', 'id,name\n1,\xc7Anna\xc8\n2,Caf\x8e\n3,Foug\x8fre\n'],
  ['windows-1252', 'id,name\n1,\xabAnna\xbb\n2,Caf\xe9\n3,Foug\xe8re\n'],
])('is told by all of the sample: %s', async (encoding, text) => {
  const message = await decode(Buffer.from(text, 'latin1'), 65_536).catch(String)

  expect(message).toContain(`use --encoding ${encoding}, or whichever it is`)
})
