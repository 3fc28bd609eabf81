// The encodings of plant lists in many languages: a proposal is right or absent, never wrong.
import { expect, test } from 'bun:test'
import { detectEncoding as detectWith } from '../../../src/formats/encoding/detect'
import { createDecoder, sampleText } from '../../../src/formats/encoding/encoding'
import { cut } from '../reading'
import { encode } from './encode'
import { LANGUAGES, plantList } from './plant-lists'

const detectEncoding = async (bytes: Uint8Array) => {
  const { lines } = await sampleText(cut(bytes, 1 << 16))
  return detectWith(lines, (program) => Bun.file(program).arrayBuffer())
}

const detect = async (text: string, encoding: string) =>
  (await detectEncoding(encode(text, encoding)))?.encoding ?? null

test('the encoding found for a plant list is right or absent, never wrong', async () => {
  const counts = { right: 0, absent: 0 }
  const wrong: string[] = []
  const encodings = new Set<string>()
  for (const [name, language] of Object.entries(LANGUAGES)) {
    for (const encoding of language.encodings) {
      for (const rows of [2, 12, 40]) {
        const text = plantList(language, rows)
        const bytes = encode(text, encoding)
        if (bytes.every((byte) => byte < 0x80)) continue
        encodings.add(encoding)
        const found = (await detectEncoding(bytes))?.encoding ?? null
        const isRight =
          found !== null &&
          createDecoder(found).decode(bytes) === createDecoder(encoding).decode(bytes)
        if (found !== null && !isRight) wrong.push(`${name}, ${rows} rows: ${encoding} as ${found}`)
        else counts[isRight ? 'right' : 'absent'] += 1
      }
    }
  }

  expect(wrong).toEqual([])
  expect(counts).toEqual({ right: 102, absent: 18 })
  expect(encodings.size).toBeGreaterThan(20)
}, 60_000)

test.each([
  [
    'curly quotes and a dash',
    'id,name\n1,Lady’s mantle\n2,Rosa ‘Peace’\n3,Hosta – mixed\n',
    'windows-1252',
  ],
  ['one letter among many rows', `id,name\n${'1,Fern\n'.repeat(5000)}2,Blüte\n`, 'windows-1252'],
  [
    'names of varieties in several languages',
    'Rosa Crème\nDahlia Señorita\nPhlox Schöne\n',
    'windows-1252',
  ],
  [
    'a space that does not break after a word',
    'id,name\n1,Orchid\xa0\n2,Fougère\xa0\n',
    'macintosh',
  ],
  ['guillemets', 'id,name\n1,«Anna»\n2,Café\n3,Fougère\n', 'macintosh'],
  ['guillemets of Windows', 'id,name\n1,«Anna»\n2,Café\n3,Forêt\n', 'windows-1252'],
  ['one letter before a vowel', 'id,name,tag\n7,Besançon,rose\n', 'windows-1252'],
  ['a multiplication sign', 'id,name\n1,Abies ×shastensis\n', 'windows-1252'],
  ['a hybrid', 'id,name\n1,Rosa ×alba\n2,Müller\n', 'windows-1252'],
  // The same bytes in windows-1255.
  ['Hebrew', 'id,name\n1,אלון התבור\n2,אורן ירושלים\n3,שן הארי\n', 'iso-8859-8'],
  ['Cyrillic after Latin', 'id,name\n1,Quercus robur (Дуб)\n2,Tilia (Липа)\n', 'koi8-u'],
])('an encoding is detected from %s', async (_, text, encoding) => {
  expect(await detect(text, encoding)).toBe(encoding)
})

test.each([
  // Each decoding has letters of a language.
  ['one word of Czech', 'id,name\n1,mák\n2,čičorka\n', 'windows-1250'],
  ['one word of Hungarian', 'id,name\n1,lő\n', 'windows-1250'],
  ['capitals of Greek', 'id,name\n1,ΒΕΛΑΝΙΔΙΑ\n2,ΠΕΥΚΟ\n3,ΕΛΙΑ\n', 'windows-1253'],
  ['two words of Chinese', 'id,name\n1,梅花\n2,侧柏\n', 'gb18030'],
  ['capitals of DOS', 'id,name\n1,ÄPFEL\n2,Rüben\n3,Löwenmäulchen\n', 'cp850'],
  ['Hungarian of DOS', 'id,name\n1,Erdei fenyő\n2,Kocsányos tölgy\n3,Tüdőfű\n', 'cp852'],
  ['one letter of DOS', 'id,name\n1,Gehölz\n', 'cp850'],
  ['one letter of Latvian', 'id,name\n1,mētra\n', 'windows-1257'],
  ['one letter of Italian', 'id,name\n1,Lillà\n', 'macintosh'],
  ['short words of Cyrillic', 'id,name\n1,Quercus robur (Дуб)\n2,Tilia (Липа)\n', 'windows-1251'],
  // Lines of UTF-8 after one of Windows.
  ['a mixture', 'id,name\n1,GrÃ¼n\n2,Grün\n3,SchÃ¶n\n', 'windows-1252'],
])('an encoding detected from %s never changes the text', async (_, text, encoding) => {
  const found = await detect(text, encoding)
  if (found !== null) expect(createDecoder(found).decode(encode(text, encoding))).toBe(text)
})

test.each([
  ['windows-1252', 'windows-1252', 'Blüte', 'Günsel'],
  ['windows-1251', 'windows-1251', 'Ромашка аптечная', 'Клевер луговой'],
  ['gb18030', 'gbk', '四季桂花', '红花檵木', '金边黄杨', '日本晚樱'],
])('no encoding is detected if other lines are UTF-8: %s', async (encoding, found, ...names) => {
  const sample = encode(names.map((name) => `3,${name}\n`).join(''), encoding)
  const utf8 = new TextEncoder().encode('1,Café 月季\n')
  const mark = new TextEncoder().encode('\ufeffid,name\n')

  expect((await detectEncoding(sample))?.encoding).toBe(found)
  for (const before of [utf8, mark, Buffer.concat([...Array(200).fill(sample), utf8])])
    expect(await detectEncoding(Buffer.concat([before, sample]))).toBeNull()
})

test.each([
  ['gb18030', '蔷薇科'],
  ['euc-jp', 'バラ科'],
  ['windows-1255', 'אלון, אורן'],
  ['iso-8859-8', 'ורד'],
  ['cp866', 'Дуб'],
])('no encoding is detected from few letters of %s: %s', async (encoding, name) => {
  expect(await detect(`id,name\n1,${name}\n`, encoding)).toBeNull()
})

test('no encoding is detected from UTF-8 that is cut off', async () => {
  expect(await detect('id,name\n1,Bl\u00c3', 'windows-1252')).toBeNull()
})

test('no encoding is detected from bytes that are not text', async () => {
  const noise = Uint8Array.from({ length: 4096 }, (_, at) => 128 + ((at * 7919) % 127))
  expect((await detectEncoding(noise))?.encoding ?? null).toBeNull()
})
