import { describe, expect, test } from 'bun:test'
import {
  decodeText,
  encodingOf,
  isEncoding,
  sampleText,
} from '../../../src/formats/encoding/encoding'
import { cut, open, read } from '../reading'
import { encode } from './encode'

const decode = async (bytes: Uint8Array, length: number, encoding: string = encodingOf(bytes)) =>
  (await Array.fromAsync(decodeText(cut(bytes, length), encoding))).join('')

test.each(['utf-16le', 'utf-16be', 'utf-8'])(
  'a %s file is read, wherever it is cut',
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
  'a %s header with neither ASCII letters nor a byte order mark is read',
  async (encoding) => {
    for (const end of ['\n', '\r\n']) {
      const text = `номер;название${end}1;Дуб${end}`
      const bytes = Buffer.from(text, 'utf16le')
      if (encoding === 'utf-16be') bytes.swap16()
      expect(await decode(bytes, 100)).toBe(text)
    }
  },
)

test('a file is read in the named encoding', async () => {
  const bytes = Buffer.from('Caf\x8e \x96', 'latin1')

  expect(await decode(bytes, 2, 'macintosh')).toBe('Café ñ')
  expect(await decode(bytes, 2, 'windows-1252')).toBe('CafŽ –')
})

test('the names of encodings are accepted', () => {
  for (const name of ['macintosh', 'Windows-1252', 'shift_jis', 'utf-8'])
    expect(isEncoding(name)).toBeTrue()
  expect(isEncoding('klingon')).toBeFalse()
})

describe('a text that is not UTF-8', () => {
  const lines = (end: string) => Array.from({ length: 5001 }, (_, n) => `${n},plant${end}`).join('')

  test.each(['\n', '\r\n', '\r'])(
    'has a sample of its non-ASCII lines, and the number of the first bad line: %j',
    async (end) => {
      const good = new TextEncoder().encode(`${lines(end)}6,Günsel${end}`)
      const bad = Buffer.from(`7,Caf\xe9 fern,x${end}8,more${end}9,No\xebl`, 'latin1')
      for (const length of [5, 64, 65_536]) {
        const { line, lines } = await sampleText(cut(Buffer.concat([good, bad]), length))
        const texts = lines.map((line) => Buffer.from(line).toString('latin1').trimEnd())
        expect({ line, texts }).toEqual({
          line: 5003,
          texts: ['6,GÃ¼nsel', '7,Caf\xe9 fern,x', '9,No\xebl'],
        })
      }
    },
  )

  test('has the right line number even if its lines are long', async () => {
    const text = `${'é'.repeat(100_000)}\n${'x'.repeat(100_000)}\n`
    const bytes = Buffer.concat([Buffer.from(text), Buffer.from('Caf\xe9', 'latin1')])

    expect((await sampleText(cut(bytes, 4096))).line).toBe(3)
  })

  test.each([
    ['a character that is cut off', [0x61, 0xc3], 'line 1'],
    ['a surrogate', [0x0a, 0xed, 0xa0, 0x80], 'line 2'],
    ['an overlong form', [0x0a, 0x0a, 0xc0, 0x80], 'line 3'],
    ['a code point beyond Unicode', [0xf4, 0x90, 0x80, 0x80], 'line 1'],
  ])('is refused: %s', async (_, bytes, line) => {
    for (const length of [1, 100]) {
      const opening = open('csv', Uint8Array.from(bytes), { length })
      expect(await opening.catch(String)).toStartWith(`OpenError: not UTF-8 at ${line}`)
    }
  })
})

test('no encoding is proposed for a file in two encodings', async () => {
  const bytes = Buffer.from('3,Bl\xfcte\n', 'latin1')
  const opening = open('csv', Buffer.concat([Buffer.from('id,name\n1,Café fern\n'), bytes]))

  expect(await opening.catch(String)).toBe(
    'OpenError: not UTF-8 at line 3, unlike other lines; save the file in one encoding',
  )
})

test('a file that is not in the named encoding is refused', async () => {
  const bytes = Buffer.from('id,name\n1,a\n'.repeat(3), 'utf16le')

  expect(await decode(bytes.subarray(0, -1), 100, 'utf-16le').catch(String)).toContain(
    'not UTF-16LE at line',
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

test('a text whose only zero byte is its third is not UTF-16', () => {
  expect(encodingOf(Buffer.from('id\0name'))).toBe('utf-8')
})
