import { describe, expect, test } from 'bun:test'
import { COMMAND_ADVICE } from '../../../src/formats/advice'
import {
  checkText,
  decodeText,
  EncodingError,
  encodingOf,
  isEncoding,
} from '../../../src/formats/encoding/encoding'
import { cut, read } from '../reading'
import { encode } from './encode'

const decode = async (bytes: Uint8Array, length: number, encoding: string | null = null) =>
  (await Array.fromAsync(decodeText(cut(bytes, length), encoding))).join('')

test.each(['utf-16le', 'utf-16be', 'utf-8'])(
  'a file in %s is read, wherever it is cut',
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

test.each(['utf-16le', 'utf-16be'])(
  'a header without ASCII and without a mark is read in %s',
  async (encoding) => {
    for (const end of ['\n', '\r\n']) {
      const text = `номер;название${end}1;Дуб${end}`
      const bytes = Buffer.from(text, 'utf16le')
      if (encoding === 'utf-16be') bytes.swap16()
      expect(await decode(bytes, 100)).toBe(text)
    }
  },
)

test('reads a file in the named encoding', async () => {
  const bytes = Buffer.from('Caf\x8e \x96', 'latin1')

  expect(await decode(bytes, 2, 'macintosh')).toBe('Café ñ')
  expect(await decode(bytes, 2, 'windows-1252')).toBe('CafŽ –')
})

test('accepts the names of encodings', () => {
  for (const name of ['macintosh', 'Windows-1252', 'shift_jis', 'utf-8'])
    expect(isEncoding(name)).toBeTrue()
  expect(isEncoding('klingon')).toBeFalse()
})

describe('a text that is not UTF-8', () => {
  const lines = (end: string) => Array.from({ length: 5001 }, (_, n) => `${n},plant${end}`).join('')

  test.each(['\n', '\r\n', '\r'])(
    'is reported with its true line, and the bad line as the sample: %j',
    async (end) => {
      const text = `${lines(end)}7,Caf\xe9 fern,x${end}8,more${end}9,No\xebl${end}`
      for (const length of [5, 64, 65_536]) {
        const error = await checkText(
          cut(Buffer.from(text, 'latin1'), length),
          null,
          COMMAND_ADVICE,
        )
          .then(() => null)
          .catch((reason) => reason)
        expect(error).toBeInstanceOf(EncodingError)
        expect(error.message).toBe('not UTF-8 at line 5002; name its encoding with --encoding')
        const sample = Buffer.from(error.sample).toString('latin1')
        expect(sample).toContain('\xe9')
        expect(sample).toContain('No\xebl')
        expect(sample).not.toContain('plant')
      }
    },
  )

  test.each([64, 65_536])(
    'is reported with its earlier lines in UTF-8, in parts of %d bytes',
    async (length) => {
      const utf8 = new TextEncoder().encode(`\ufeffid,name\n${lines('\n')}7,Günsel\n${lines('\n')}`)
      const bytes = Buffer.concat([utf8, Buffer.from('8,Caf\xe9\n', 'latin1')])
      const error = await checkText(cut(bytes, length), null, COMMAND_ADVICE).catch(
        (reason) => reason,
      )
      const earlier = new TextDecoder('utf-8', { ignoreBOM: true }).decode(error.earlier)
      expect(earlier).toContain('\ufeff')
      expect(earlier).toContain('7,Günsel\n')
      expect(earlier.length).toBeLessThan(200)
    },
  )

  test.each([
    ['a character that is cut off', [0x61, 0xc3], 'line 1'],
    ['a surrogate', [0x0a, 0xed, 0xa0, 0x80], 'line 2'],
    ['an overlong form', [0x0a, 0x0a, 0xc0, 0x80], 'line 3'],
    ['beyond Unicode', [0xf4, 0x90, 0x80, 0x80], 'line 1'],
  ])('is refused: %s', async (_, bytes, line) => {
    for (const length of [1, 100]) {
      expect(await decode(Uint8Array.from(bytes), length).catch(String)).toContain(
        `not UTF-8 at ${line};`,
      )
    }
  })
})

test('refuses a file that is not in the named encoding', async () => {
  const bytes = Buffer.from('id,name\n1,a\n'.repeat(3), 'utf16le')

  expect(await decode(bytes.subarray(0, -1), 100, 'utf-16le').catch(String)).toContain(
    'not utf-16le, at line',
  )
})

test.each(['cp437', 'cp850', 'ibm866'])('a DOS file is read as %s', async (encoding) => {
  const text = encoding === 'ibm866' ? 'Дуб' : 'Möhre, Äpfel ½'
  const bytes = encode(text, encoding)

  for (const length of [1, 100]) {
    expect((await Array.fromAsync(decodeText(cut(bytes, length), encoding))).join('')).toBe(text)
  }
  expect(isEncoding(encoding.toUpperCase())).toBeTrue()
})

test('a text whose third character alone is a zero is no UTF-16', () => {
  expect(encodingOf(Buffer.from('id\0name'))).toBe('utf-8')
})
