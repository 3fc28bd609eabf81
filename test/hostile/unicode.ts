import { type Body, bodies, type Case, concat } from './case'

const BOM = new Uint8Array([0xef, 0xbb, 0xbf])
const plant = '{"id":10,"name":"a"}'

const named = (...bytes: readonly number[]): Body =>
  concat('{"id":10,"name":"', new Uint8Array(bytes), '"}')

const notUtf8 = (rows: readonly (readonly [string, readonly number[]])[]): Case[] =>
  bodies(rows.map(([what, bytes]) => [`refuses ${what} in a name`, named(...bytes), 40001]))

function utf16(text: string, isBigEndian: boolean): Uint8Array {
  const bytes = Buffer.from(text, 'utf16le')
  return isBigEndian ? bytes.swap16() : bytes
}

const utf32 = (text: string): Uint8Array =>
  Buffer.concat([...text].map((letter) => Buffer.from([letter.codePointAt(0) ?? 0, 0, 0, 0])))

const unpaired = (where: string, escaped: string): readonly [string, Body, number] => [
  `refuses ${where} in a name`,
  `{"id":10,"name":"${escaped}"}`,
  40002,
]

/** UTF-8 (RFC 3629), the other encodings, and what is no text. */
export const unicode: readonly Case[] = [
  ...notUtf8([
    ['a lone continuation byte', [0x80]],
    ['the last lone continuation byte', [0xbf]],
    ['a letter of Latin-1', [0xe9]],
    ['a sequence of two bytes cut short', [0xc3]],
    ['a sequence of three bytes cut short', [0xe2, 0x82]],
    ['a sequence of four bytes cut short', [0xf0, 0x9f, 0x8c]],
    ['a slash in two bytes', [0xc0, 0xaf]],
    ['U+0000 in two bytes', [0xc0, 0x80]],
    ['a quote in two bytes', [0xc0, 0xa2]],
    ['U+007F in two bytes', [0xc1, 0xbf]],
    ['a slash in three bytes', [0xe0, 0x80, 0xaf]],
    ['U+07FF in three bytes', [0xe0, 0x9f, 0xbf]],
    ['a slash in four bytes', [0xf0, 0x80, 0x80, 0xaf]],
    ['U+FFFF in four bytes', [0xf0, 0x8f, 0xbf, 0xbf]],
    ['a high surrogate in three bytes', [0xed, 0xa0, 0x80]],
    ['a low surrogate in three bytes', [0xed, 0xbf, 0xbf]],
    ['a pair of surrogates in six bytes', [0xed, 0xa0, 0xbc, 0xed, 0xbc, 0xb5]],
    ['U+110000', [0xf4, 0x90, 0x80, 0x80]],
    ['a first byte beyond Unicode', [0xf5, 0x80, 0x80, 0x80]],
    ['a sequence of five bytes', [0xf8, 0x88, 0x80, 0x80, 0x80]],
    ['a sequence of six bytes', [0xfc, 0x84, 0x80, 0x80, 0x80, 0x80]],
    ['the byte FE', [0xfe]],
    ['the byte FF', [0xff]],
    ['a sequence with a letter in it', [0xe2, 0x41, 0xac]],
    ['one continuation byte too many', [0xc3, 0xa9, 0xa9]],
  ]),
  ...bodies([
    [
      'refuses a byte that is not UTF-8 outside of a string',
      concat('{\xa0', plant.slice(1)),
      40001,
    ],
    ['ignores a byte order mark before the body', concat(BOM, plant), [10, 'a']],
    ['refuses two byte order marks before the body', concat(BOM, BOM, plant), 40001],
    ['refuses a byte order mark alone', BOM, 40001],
    ['refuses a byte order mark behind the body', concat(plant, BOM), 40001],
    ['refuses half a byte order mark', concat(BOM.slice(0, 2), plant), 40001],
    ['refuses UTF-16 with the low byte first', utf16(plant, false), 40001],
    ['refuses UTF-16 with the high byte first', utf16(plant, true), 40001],
    ['refuses UTF-16 with its byte order mark', utf16(`\ufeff${plant}`, false), 40001],
    ['refuses big-endian UTF-16 with its byte order mark', utf16(`\ufeff${plant}`, true), 40001],
    ['refuses UTF-32', utf32(plant), 40001],
    ['refuses UTF-7', '+AHs-"id":10,"name":"a"+AH0-', 40001],
    ['refuses the body compressed by gzip', Bun.gzipSync(Buffer.from(plant)), 40001],
    ['refuses 1,000 bytes of each value', new Uint8Array(1000).map((_, at) => at), 40001],
    unpaired('an escaped high surrogate', '\\ud800'),
    unpaired('an escaped low surrogate', '\\udfff'),
    unpaired('a high surrogate at the end', 'a\\udbff'),
    unpaired('surrogates in the wrong order', '\\udc00\\ud800'),
    unpaired('two high surrogates', '\\ud83c\\ud83c\\udf35'),
    unpaired('a high surrogate before a letter', '\\ud83cx'),
    unpaired('U+0000 as an escape', '\\u0000'),
    unpaired('U+0000 between letters', 'a\\u0000b'),
    ['refuses an unpaired surrogate in a tag', '{"id":10,"name":"a","tag":"\\ud800"}', 40002],
    ['refuses U+0000 in a tag', '{"id":10,"name":"a","tag":"a\\u0000"}', 40002],
    ['joins a pair of escaped surrogates', '{"id":10,"name":"\\ud83c\\udf35"}', [10, '🌵']],
    ['keeps a letter beyond the basic plane', '{"id":10,"name":"🌵","tag":"𐍈"}', [10, '🌵', '𐍈']],
    ['keeps U+10FFFF', '{"id":10,"name":"\u{10ffff}"}', [10, '\u{10ffff}']],
    ['keeps noncharacters', '{"id":10,"name":"\ufffe\uffff\ufdd0"}', [10, '\ufffe\uffff\ufdd0']],
    ['keeps U+FFFD', '{"id":10,"name":"\ufffd"}', [10, '\ufffd']],
    ['keeps a byte order mark in a name', '{"id":10,"name":"\ufeffa"}', [10, '\ufeffa']],
    ['keeps what changes the direction', '{"id":10,"name":"\u202ea\u2066"}', [10, '\u202ea\u2066']],
    [
      'keeps letters of both forms apart',
      '{"id":10,"name":"é","tag":"e\u0301"}',
      [10, 'é', 'e\u0301'],
    ],
    [
      'keeps 1,000 marks on one letter',
      `{"id":10,"name":"a${'\u0301'.repeat(1000)}"}`,
      [10, `a${'\u0301'.repeat(1000)}`],
    ],
    [
      'ignores an unknown field whose name is an unpaired surrogate',
      '{"id":10,"name":"a","\\ud800":"\\udc00"}',
      [10, 'a'],
    ],
    ['ignores U+0000 in an unknown field', '{"id":10,"name":"a","\\u0000":"\\u0000"}', [10, 'a']],
    ['takes a name with U+0000 behind it for another', '{"id":10,"name\\u0000":"a"}', 40002],
    ['takes letters of another width for another name', '{"ｉｄ":10,"name":"a"}', 40002],
  ]),
]
