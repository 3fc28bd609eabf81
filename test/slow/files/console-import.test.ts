// Files into the console, with a real daemon and without a browser: what is asked about each, and what becomes of it.
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { utils, write } from '@e965/xlsx'
import { createImporter, type Importer } from '../../../src/web/console/import/importer'
import type { Preview } from '../../../src/web/console/import/preview'
import { Session } from '../../../src/web/console/session'
import { PATIENCE_MS, root, startDaemon, TOKEN, temporaryFolder } from '../../harness/daemon'
import { storedPlants } from '../../harness/plants'
import { until } from '../../harness/until'
import { WANTED_FILES } from './wanted-files'

setDefaultTimeout(PATIENCE_MS)

const files = join(root, 'test/real-world')
const fileOf = (name: string) => new File([readFileSync(join(files, name))], name)

const FULL = {
  ok: false,
  error: 50701,
  status: 507,
  message: 'disk full; nothing was stored',
  isRepeated: false,
} as const

/** The importer of a console that is connected to a daemon of its own. */
async function start() {
  const folder = temporaryFolder()
  const database = folder.file('plants.db')
  const daemon = await startDaemon({ database })
  const session = new Session(new URL(`${daemon.url}/`))
  await session.connect(TOKEN)
  const importer = createImporter(
    session,
    () => {},
    () => {},
  )
  return {
    daemon,
    session,
    importer,
    plants: () =>
      storedPlants(database).map(({ id, name, tag }) =>
        tag === null ? [id, name] : [id, name, tag],
      ),
    async [Symbol.asyncDispose]() {
      await daemon.kill()
      folder[Symbol.dispose]()
    },
  }
}

/** What is asked about a file, once it was read whole. */
async function previewOf(importer: Importer): Promise<Preview> {
  const form = await until('the form', () => importer.current.value?.form)
  const { preview } = form.props as unknown as { preview: Preview }
  await until('the whole preview', () => !preview.input.value || preview.analysis.value?.isWhole)
  return preview
}

/** What a preview shows of a file. */
function shown({ analysis, columns, settings, readable }: Preview) {
  const { id, name, tag, numberFrom } = columns.value
  const header = readable.value?.table.header ?? []
  const nameOf = (column: number | null) =>
    column === null ? null : header[column] || `column ${column + 1}`
  return {
    columns: [
      id === null ? `from ${numberFrom}` : nameOf(id),
      name.map(nameOf).join(' + ') || null,
      nameOf(tag),
    ],
    encoding: settings.value.encoding,
    first: analysis.value?.examples.map(({ id, name, tag }) =>
      tag === undefined ? [id, name] : [id, name, tag],
    ),
  }
}

const counts = ({ current }: Importer): Record<string, unknown> => {
  const { state, created, skipped, refused, rows, unreadReason } = current.value ?? {}
  return { state, created, skipped, refused, rows, unreadReason }
}

const done = (created: number, more: object = {}) => ({
  state: 'done',
  created,
  skipped: 0,
  refused: 0,
  rows: created,
  unreadReason: null,
  ...more,
})

describe('a real-world file such as', () => {
  test.each([
    ['wider-rows.csv', 2],
    ['short-rows.csv', 3],
    ['blank-rows.csv', 1],
    ['spaces.csv', 2],
    ['literal-quotes.tsv', 3],
    ['wrapped.json', 2],
    ['pretty.ndjson', 2],
    ['features.geojson', 2],
    ['date-times.xlsx', 4],
    ['time-only.xlsx', 2],
    ['hidden-first-sheet.xlsx', 1],
    ['merged-tag.xlsx', 3],
    ['cells-without-r.xlsx', 2],
    ['emoji-reference.xlsx', 1],
    ['side-note.xlsx', 2],
    ['empty-names.json', 2],
    ['stored.ndjson', 2],
    ['tomorrow.csv', 1],
    ['rows-as-arrays.json', 2],
  ])('%s fits: choosing it is enough', async (name, created) => {
    await using console = await start()

    await console.importer.add([fileOf(name)])

    expect(counts(console.importer)).toEqual(done(created))
    expect(console.plants()).toHaveLength(created)
  })

  const asked: readonly (readonly [string, (string | null)[], (bigint | string)[][], string?])[] = [
    ['macintosh.csv', ['id', 'name', 'tag'], [[1n, 'Café fern', 'shade']], 'macintosh'],
    [
      'smart-quotes.csv',
      ['id', 'name', 'tag'],
      [
        [1n, 'Lady’s mantle', 'herb'],
        [2n, 'Rosa ‘Peace’', 'rose'],
        [3n, 'Hosta – mixed', 'shade'],
      ],
      'windows-1252',
    ],
    [
      'cyrillic.csv',
      ['id', 'name', 'tag'],
      [
        [1n, 'Дуб', 'деревья'],
        [2n, 'Ель', 'хвойные'],
      ],
      'windows-1251',
    ],
    [
      'polish.csv',
      ['id', 'name', 'tag'],
      [
        [1n, 'Dąb', 'drzewa'],
        [2n, 'Żywotnik', 'krzewy'],
      ],
      'windows-1250',
    ],
    [
      'records-fields.json',
      ['fields.nr', 'fields.genus + fields.species', null],
      [
        [1n, 'Acer rubrum'],
        [2n, 'Quercus alba'],
      ],
    ],
    [
      'elements-tags.json',
      ['id', 'tags.species', null],
      [
        [11n, 'Acer rubrum'],
        [12n, 'Quercus alba'],
      ],
    ],
    [
      'names-only.json',
      ['from 1', 'name', null],
      [
        [1n, 'Fern'],
        [2n, 'Ivy'],
        [3n, 'Moss'],
      ],
    ],
    [
      'keyed-by-name.json',
      ['from 1', 'key', null],
      [
        [1n, 'Fern'],
        [2n, 'Ivy'],
      ],
    ],
    [
      'one-word-headings.csv',
      ['id', 'scientificname', 'family'],
      [
        [1n, 'Acer rubrum', 'Sapindaceae'],
        [2n, 'Quercus alba', 'Fagaceae'],
        [3n, 'Tilia cordata', 'Malvaceae'],
      ],
    ],
    [
      'text-ids.csv',
      ['from 1', 'Name', null],
      [
        [1n, 'Fern'],
        [2n, 'Ivy'],
      ],
    ],
    ['no-id.csv', ['from 1', 'latin', null], [[1n, 'Hedera helix']]],
    ['other-names.csv', ['plant_id', 'common_name', 'family'], [[1n, 'Fern', 'Polypodiaceae']]],
    [
      'no-header.csv',
      ['from 1', 'column 1', 'column 2'],
      [
        [1n, 'Tomato', 'Solanaceae'],
        [2n, 'Basil', 'Lamiaceae'],
        [3n, 'Chives', 'Amaryllidaceae'],
      ],
    ],
    [
      'herbarium.csv',
      ['catalogNumber', 'scientificName', 'family'],
      [
        [107n, 'Hedera helix L.', 'Araliaceae'],
        [108n, 'Viola × wittrockiana', 'Violaceae'],
        [109n, 'Acer pseudoplatanus L.', 'Sapindaceae'],
      ],
    ],
    [
      'price-list.csv',
      ['Artikel-Nr', 'Bezeichnung', 'Gruppe'],
      [
        [1001n, 'Frauenmantel', 'Stauden'],
        [1002n, 'Günsel »Rosea«', 'Stauden'],
        [1003n, 'Große Sternmiere'],
      ],
      'windows-1252',
    ],
    [
      'download.tsv',
      ['gbifID', 'scientificName', 'genus'],
      [
        [4021345678n, 'Hedera helix L.', 'Hedera'],
        [4021345679n, 'Rosa "Anna"', 'Rosa'],
        [4021345680n, 'Aloe vera (L.) Burm.f.', 'Aloe'],
      ],
    ],
    [
      'photo-first.csv',
      ['from 1', 'nombre_cientifico', 'familia'],
      [
        [1n, 'Olea europaea', 'Oleaceae'],
        [2n, 'Salvia rosmarinus', 'Lamiaceae'],
      ],
    ],
    ['preamble.csv', ['id', 'name', null], [[1n, 'Fern']]],
    [
      'title-row.csv',
      ['Nr', 'Name', 'Gruppe'],
      [
        [1n, 'Fern', 'shade'],
        [2n, 'Ivy', 'climber'],
      ],
    ],
    [
      'title-row.xlsx',
      ['No', 'Latin name', 'Group'],
      [
        [11n, 'Lamium album', 'herb'],
        [12n, 'Acer campestre', 'tree'],
      ],
    ],
    ['two-sheets.xlsx', ['id', 'name', 'tag'], [[1n, 'Fern']]],
    [
      'collection.json',
      ['from 1', 'latin', 'category'],
      [
        [1n, 'Monstera deliciosa', 'Aroid'],
        [2n, 'Ficus lyrata', 'Fig'],
        [3n, 'Aloe vera', 'Succulent'],
      ],
    ],
  ]

  test('a workbook with hidden rows is shown, with their number', async () => {
    await using console = await start()
    const sheet = utils.aoa_to_sheet([
      ['id', 'name'],
      [1, 'Fern'],
      [2, 'Ivy'],
    ])
    sheet['!rows'] = [{}, {}, { hidden: true }]
    const bytes = write({ SheetNames: ['A'], Sheets: { A: sheet } }, { type: 'array' })

    const adding = console.importer.add([new File([bytes], 'filtered.xlsx')])
    const preview = await previewOf(console.importer)
    expect(preview.readable.value?.table.hiddenRows).toBe(1)
    expect(console.plants()).toEqual([])
    preview.accept()
    await adding
    expect(console.plants()).toHaveLength(2)
  })

  test.each(asked)(
    '%s is shown with the guess, and can be imported',
    async (name, columns, plants, encoding = undefined as string | undefined) => {
      await using console = await start()
      const { importer } = console

      const adding = importer.add([fileOf(name)])
      const preview = await previewOf(importer)
      const { first, ...rest } = shown(preview)
      expect(console.plants()).toEqual([])
      preview.accept()
      await adding

      expect(rest).toEqual({ columns, encoding: encoding ?? null })
      expect(first).toEqual(plants)
      expect(console.plants()).toEqual(plants)
      expect(counts(importer)).toEqual(done(plants.length))
    },
  )

  test.each([
    ['first-row-short.csv', ['from 1', null, null]],
    ['forty-columns.csv', ['from 1', null, null]],
    ['today.csv', ['from 1', 'name', null]],
  ])('%s is shown, and the user chooses the column of names', async (name, columns) => {
    await using console = await start()
    const { importer } = console

    const adding = importer.add([fileOf(name)])
    const preview = await previewOf(importer)
    const { headerRow } = preview.settings.value
    const { columns: found } = shown(preview)
    preview.cancel()
    await adding

    expect({ found, headerRow }).toEqual({ found: columns, headerRow: null })
  })

  test('plants.yaml is refused in a sentence', async () => {
    await using console = await start()
    await console.importer.add([fileOf('plants.yaml')])

    expect(console.importer.current.value).toMatchObject({
      state: 'failed',
      reason: '.yaml files are not read; save the table as CSV or .xlsx',
    })
  })

  test('workbook.xlsx is shown by the sheet that has names, with the cell that has no stored value', async () => {
    await using console = await start()
    const { importer } = console

    const adding = importer.add([fileOf('workbook.xlsx')])
    const preview = await previewOf(importer)
    expect(preview.readable.value?.table.sheets).toEqual(['Notes', 'Plants'])
    expect(shown(preview).columns).toEqual(['Nr.', 'Plant', null])
    expect(preview.analysis.value?.problems).toEqual([
      expect.objectContaining({
        line: 4,
        problem: 'name: a formula without a stored value in cell B4',
      }),
    ])
    preview.choose({ tag: 2 })
    preview.accept()
    await adding

    expect(counts(importer)).toEqual(done(4, { refused: 1, rows: 5 }))
    expect(console.plants()).toEqual([
      [1n, 'Fern', 'shade'],
      [2n, 'Viola × wittrockiana'],
      [5n, '1/2', 'herb'],
      [9223372036854775807n, 'Ivy "Anna"\nwhite', 'climber'],
    ])
  })

  test('zip-named.csv is refused with a sentence that says what to do', async () => {
    await using console = await start()

    await console.importer.add([fileOf('zip-named.csv')])

    expect(console.importer.current.value).toMatchObject({
      state: 'failed',
      reason:
        'this is a ZIP file; if it is an Excel workbook, rename it to .xlsx; otherwise unpack it, or save its table as CSV',
    })
    expect(console.importer.canRetry()).toBeFalse()
  })

  test.each([
    ['nothing', 'a.csv', '', 'the file is empty'],
    ['numbers', 'a.json', '[1,2]', 'no plant in it; line 1: expected an object with id, name'],
  ])('one with %s says why there are no columns', async (_, name, text, reason) => {
    await using console = await start()

    await console.importer.add([new File([text], name)])
    expect(console.importer.current.value?.state).toBe('failed')
    expect(console.importer.current.value?.reason).toStartWith(reason)
  })

  test('hidden-stop.csv is shown with its first problems, and its refused rows can be saved', async () => {
    await using console = await start()
    const { importer } = console

    const adding = importer.add([fileOf('hidden-stop.csv')])
    const preview = await previewOf(importer)
    expect(preview.analysis.value).toMatchObject({
      rows: 28,
      refused: 25,
      unreadReason: 'from line 30 on: unterminated quote in "name"',
      problems: [
        {
          line: 5,
          problem:
            'id: "P-0" is not a whole number; ids must be whole numbers (choose "Number the rows" as the ID)',
        },
        { line: 6 },
        { line: 7 },
      ],
    })
    preview.accept()
    await adding

    expect(counts(importer)).toMatchObject({ created: 3, refused: 25, rows: 28 })
    expect(importer.current.value?.groups).toMatchObject([
      {
        cause: expect.stringMatching(/^the ID is not a whole number; ids must be whole numbers/),
        count: 25,
        examples: ['P-0', 'P-1', 'P-2'],
        lines: [5, 6, 7],
      },
    ])
    const saved = (await importer.current.value?.refusedRows?.().text())?.split('\n') ?? []
    expect(saved).toHaveLength(27)
    expect(saved[0]).toBe('id,name,tag,reason')
    expect(saved[1]).toStartWith('P-0,plant,bed,"id: ""P-0"" is not a whole number')
  })

  test('genus-species.csv has a name in two columns, which are joined', async () => {
    await using console = await start()
    const { importer } = console

    const adding = importer.add([fileOf('genus-species.csv')])
    const preview = await previewOf(importer)
    expect(preview.columns.value).toMatchObject({ id: null, name: [0, 1] })
    preview.accept()
    await adding

    expect(console.plants()[0]).toEqual([1n, 'Quercus alba', 'Fagaceae'])
  })

  test('one of JSON with two lists is read whole, or one list of it', async () => {
    await using console = await start()
    const { importer } = console
    const beds = '{"sun":[{"id":1,"name":"Sage"}],"shade":[{"id":2,"name":"Fern"}]}'

    const adding = importer.add([new File([beds], 'beds.json')])
    const preview = await previewOf(importer)
    expect(preview.detection.lists).toEqual(['*', 'sun', 'shade'])
    expect(preview.analysis.value?.rows).toBe(2)
    await preview.read({ list: 'shade' })
    preview.accept()
    await adding

    expect(console.plants()).toEqual([[2n, 'Fern']])
  })

  test.each(WANTED_FILES.map((wanted) => [wanted.file, wanted] as const))(
    '%s becomes what is wanted, by the proposal that is shown',
    async (name, { plants, inConsole = plants, refused = 0, err, notices }) => {
      await using console = await start()
      const { importer } = console

      const adding = importer.add([fileOf(name)])
      await until('the question, or the end', () => {
        const { form, state } = importer.current.value ?? {}
        return form !== null || state === 'done' || state === 'failed'
      })
      if (importer.current.value?.form) {
        const preview = await previewOf(importer)
        if (!preview.isReady) {
          expect(inConsole).toEqual([])
          preview.cancel()
          await adding
          return
        }
        preview.accept()
      }
      await adding

      expect(console.plants()).toEqual(inConsole as (bigint | string)[][])
      const { state, notices: shownNotices } = importer.current.value ?? {}
      expect([state, shownNotices]).toEqual([
        'done',
        notices ?? err?.split('\n').filter((line) => line !== '' && !line.startsWith('reading')),
      ])
      expect(importer.current.value?.refused).toBe(inConsole === plants ? refused : 0)
    },
  )

  test('each of test/real-world has a test in this file', () => {
    const text =
      readFileSync(import.meta.path, 'utf8') + WANTED_FILES.map(({ file }) => `'${file}`).join()
    const all = readdirSync(files).filter((name) => !/^README.md$|^large.py$/.test(name))

    expect(all.filter((name) => !text.includes(`'${name}`))).toEqual([])
  })
})

const csv = (text: string, name = 'a.csv') => new File([text], name)

describe('an updated copy of an imported file', () => {
  const rows = Array.from({ length: 2500 }, (_, n) => `${n * 3},plant ${n}`)
  const today = ['id,name', '-5,new', ...rows.with(7, '21,renamed').with(2400, '7200,other')].join(
    '\n',
  )

  async function startWithYesterday() {
    const console = await start()
    await console.importer.add([csv(['id,name', ...rows].join('\n'))])
    return console
  }

  test('raises a question, with the numbers of new, different and unchanged rows', async () => {
    await using console = await startWithYesterday()
    const { importer } = console

    const adding = importer.add([csv(today)])
    const preview = await previewOf(importer)
    const { comparison } = preview.analysis.value ?? {}
    preview.accept()
    await adding

    expect(comparison).toMatchObject({ created: 1, differing: 2, unchanged: 2498 })
    expect(counts(importer)).toMatchObject({ created: 1, skipped: 2498, refused: 2 })
    expect(console.plants()[8]).toEqual([21n, 'plant 7'])
  })

  test.each([
    ['differs', '7500,other', { created: 1, differing: 1, unchanged: 2500 }, 0],
    ['is refused', 'x,bad', { created: 1, differing: 0, unchanged: 2500 }, 1],
  ])('raises a question even if only the last row %s', async (_, last, compared, refused) => {
    await using console = await startWithYesterday()
    const { importer } = console
    await console.importer.add([csv('id,name\n7500,last\n')])

    const adding = importer.add([csv(['id,name', '-5,new', ...rows, last].join('\n'))])
    const preview = await previewOf(importer)
    const analysis = preview.analysis.value
    preview.cancel()
    await adding

    expect(analysis?.comparison).toMatchObject(compared)
    expect(analysis?.refused).toBe(refused)
    expect(console.plants()).toHaveLength(2501)
  })

  test('is stopped while it is compared, and nothing is stored', async () => {
    await using console = await startWithYesterday()
    const { importer, session } = console
    const call = session.call.bind(session)
    session.call = async (make) => {
      importer.stop()
      return call(make)
    }
    await importer.add([csv(['id,name', '-5,new', ...rows].join('\n'))])

    expect(importer.current.value).toBeNull()
    expect(console.plants()).toHaveLength(2500)
  })

  test('replaces plants that differ if that is chosen; the last row of a repeated id wins', async () => {
    await using console = await startWithYesterday()
    const { importer } = console

    const adding = importer.add([csv(`${today}\n21,again\n`)])
    const preview = await previewOf(importer)
    expect(preview.analysis.value?.comparison).toMatchObject({ differing: 3 })
    preview.replaces.value = true
    preview.accept()
    await adding

    expect(importer.current.value).toMatchObject({
      state: 'done',
      created: 1,
      skipped: 2498,
      replaced: 3,
      refused: 0,
    })
    expect(console.plants()[8]).toEqual([21n, 'again'])
  })

  test('without a column for tags leaves the stored tags', async () => {
    await using console = await start()
    const { importer } = console
    await importer.add([fileOf('stored.ndjson')])

    const adding = importer.add([fileOf('no-tag-column.csv')])
    const preview = await previewOf(importer)
    expect(preview.analysis.value?.comparison).toMatchObject({
      created: 0,
      differing: 1,
      unchanged: 1,
    })
    preview.replaces.value = true
    preview.accept()
    await adding

    expect(importer.current.value).toMatchObject({
      state: 'done',
      skipped: 1,
      replaced: 1,
      refused: 0,
    })
    expect(importer.current.value?.notices).toEqual([
      '2 keep their tag: the file has no column for it',
    ])
    expect(console.plants()).toEqual([
      [1n, 'Fern', 'shade'],
      [2n, 'Hedera', 'climber'],
    ])
    await importer.add([csv('id,name\n1,Fern\n')])
    expect(importer.current.value).toMatchObject({ state: 'done', skipped: 1, refused: 0 })
    const again = importer.add([csv('id,name\n1,Fern\n2,Ivy\n')])
    ;(await previewOf(importer)).accept()
    await again
    expect(importer.current.value).toMatchObject({ state: 'done', skipped: 1, refused: 1 })
  })

  test('without any changes is imported at once, and creates nothing', async () => {
    await using console = await startWithYesterday()
    await console.importer.add([csv(['id,name', ...rows].join('\n'))])

    expect(counts(console.importer)).toMatchObject({ state: 'done', created: 0, skipped: 2500 })
  })
})

describe('an import that stops early', () => {
  const bad = Array.from({ length: 30 }, (_, n) => `P${n},a\n`).join('')
  const good = Array.from({ length: 1200 }, (_, n) => `${n},a\n`).join('')

  test.each([
    ['a few rows', 'id,name\n1,a\n2,"never closed\n3,lost\n', 1, 0, 'from line 3 on'],
    ['many refused rows', `id,name\n${bad}1,good\n2,"never closed\n`, 1, 30, 'from line 33 on'],
    ['many rows', `id,name\n${good}x,"never closed\n3,lost\n`, 1200, 0, 'from line 1202 on'],
  ])('after %s says so', async (_, text, created, refused, from) => {
    await using console = await start()
    const { importer } = console

    const adding = importer.add([csv(text)])
    await until(
      'the form, or a failure',
      () => importer.current.value?.form || importer.current.value?.state === 'failed',
    )
    if (importer.current.value?.form) (await previewOf(importer)).accept()
    await adding

    expect(counts(importer)).toEqual({
      state: 'failed',
      created,
      skipped: 0,
      refused,
      rows: created + refused,
      unreadReason: `${from}: unterminated quote in "name"`,
    })
  })

  test('by the user says so, and continues when it is repeated', async () => {
    await using console = await start()
    const { importer } = console
    const text = `id,name\n${Array.from({ length: 20_000 }, (_, n) => `${n},a\n`).join('')}`

    const adding = importer.add([csv(text)])
    await until('the first plant', () => (importer.current.value?.created ?? 0) > 0)
    importer.stop()
    await adding

    const stopped = counts(importer)
    expect(stopped).toMatchObject({
      state: 'stopped',
      unreadReason: 'the rest, because it was stopped',
    })
    expect(Number(stopped.rows)).toBeLessThan(20_000)
    await importer.retry()
    expect(counts(importer)).toMatchObject({ state: 'done', rows: 20_000, unreadReason: null })
    expect(console.plants()).toHaveLength(20_000)
  }, 60_000)

  test('because the service refuses says so', async () => {
    await using console = await start()
    const { importer, session } = console
    const persist = session.persist.bind(session)
    session.persist = async (make, signal) =>
      (importer.current.value?.created ?? 0) > 0 ? FULL : persist(make, signal)
    const text = `id,name\n${Array.from({ length: 2500 }, (_, n) => `${n},a\n`).join('')}`

    await importer.add([csv(text)])

    expect(counts(importer)).toMatchObject({
      state: 'failed',
      created: 1000,
      rows: 1000,
      unreadReason: 'the rest: the disk is full',
    })
  })

  test('because the service refuses its first rows mentions no remaining rows', async () => {
    await using console = await start()
    const { importer, session } = console
    session.persist = async () => FULL

    await importer.add([csv('id,name\n1,a\n')])

    expect(counts(importer)).toMatchObject({
      state: 'failed',
      created: 0,
      rows: 0,
      unreadReason: 'the disk is full',
    })
  })
})

describe('the preview', () => {
  test('numbers rows from the id after the largest, and not beyond the last', async () => {
    await using console = await start()
    const { importer } = console
    await importer.add([csv('id,name\n41,a\n-3,b\n')])

    const adding = importer.add([csv('latin\nFern\n')])
    const preview = await previewOf(importer)
    expect(shown(preview).first).toEqual([[42n, 'Fern']])
    preview.cancel()
    await adding
    expect(importer.current.value).toBeNull()

    await importer.add([csv('id,name\n9223372036854775807,last\n')])
    const again = importer.add([csv('latin\nFern\n')])
    const other = await previewOf(importer)
    expect([other.columns.value.numberFrom, other.input.value]).toEqual(['', null])
    other.choose({ numberFrom: '7' })
    await until('the whole preview', () => other.analysis.value?.isWhole)
    other.accept()
    await again
    expect(console.plants()).toContainEqual([7n, 'Fern'])
  })

  test('numbers the same file as before, so that its plants are found stored', async () => {
    await using console = await start()
    const { importer } = console
    const file = new File(['latin\nFern\nIvy\n'], 'a.csv', { lastModified: 5 })

    for (const skipped of [0, 2]) {
      const adding = importer.add([file])
      ;(await previewOf(importer)).accept()
      await adding
      expect(counts(importer)).toMatchObject({ state: 'done', created: 2 - skipped, skipped })
    }
  })

  test('reads the file again as it is told: delimiter, encoding, header', async () => {
    await using console = await start()
    const { importer } = console

    const adding = importer.add([csv('latin;no|x\nHedera;10|y\n')])
    const preview = await previewOf(importer)
    expect(preview.readable.value?.table.delimiter).toBe(';')
    await preview.read({ delimiter: '|' })
    expect(preview.readable.value?.table.header).toEqual(['latin;no', 'x'])
    await preview.read({ hasHeader: false })
    expect(preview.analysis.value?.rows).toBe(2)
    await preview.read({ encoding: 'utf-16be' })
    expect(preview.error.value).toBe('not utf-16be, at line 3 or later; choose another encoding')
    await preview.read({ encoding: null, delimiter: ';', hasHeader: true })
    preview.choose({ name: [0] })
    await until('the whole preview', () => preview.analysis.value?.isWhole)
    expect(preview.error.value).toBeNull()
    preview.cancel()
    await adding
  })

  test('chooses no encoding where several are possible, and reads the file once one is chosen', async () => {
    await using console = await start()
    const { importer } = console
    const bytes = Buffer.from('id,name\n1,Cr\xe8me\n', 'latin1')

    const adding = importer.add([new File([bytes], 'a.csv')])
    const preview = await previewOf(importer)
    expect(preview.detection.problem).not.toBeNull()
    expect([preview.settings.value.encoding, preview.input.value]).toEqual([null, null])
    expect(preview.error.value).toBe(
      'not UTF-8 at line 2: it reads "1,Crème" as windows-1252, "1,Crčme" as windows-1250; choose another encoding',
    )
    await preview.read({ encoding: 'windows-1252' })
    expect(preview.error.value).toBeNull()
    preview.accept()
    await adding

    expect(console.plants()).toEqual([[1n, 'Crème']])
  })

  test('guesses the encoding by a letter that comes late', async () => {
    await using console = await start()
    const { importer } = console
    const rows = Array.from({ length: 50_000 }, (_, n) => `${n},fern\n`).join('')
    const bytes = Buffer.from(`id,name\n${rows}70000,Caf\xe9\n`, 'latin1')

    const adding = importer.add([new File([bytes], 'a.csv')])
    const preview = await previewOf(importer)
    expect(preview.settings.value.encoding).toBe('windows-1252')
    expect(preview.analysis.value).toMatchObject({ rows: 50_001, refused: 0, unreadReason: null })
    preview.cancel()
    await adding
  })
})

test('of several files, only doubtful ones raise questions; each has its result', async () => {
  await using console = await start()
  const { importer } = console

  const adding = importer.add([
    csv('id,name\n1,Fern\n', 'one.csv'),
    csv('latin\nIvy\n', 'two.csv'),
    fileOf('zip-named.csv'),
    csv('latin,x\nIvy,y\n', 'no.csv'),
    csv('', 'empty.csv'),
    csv('id,name\n1,Rose\n', 'last.csv'),
  ])
  ;(await previewOf(importer)).accept()
  const unwanted = await until('the note about unwanted rows', () => {
    const { preview } = (importer.current.value?.form?.props ?? {}) as unknown as {
      preview?: Preview
    }
    return preview?.detection.file.name === 'no.csv' && preview
  })
  unwanted.cancel()
  // Its plant is stored with another name.
  const last = await until('the last file', () => {
    const { preview } = (importer.current.value?.form?.props ?? {}) as unknown as {
      preview?: Preview
    }
    return preview?.detection.file.name === 'last.csv' && preview
  })
  last.accept()
  await adding

  const all = importer.imports.value
  expect(
    all.map((one) => [one.file.name, one.state, one.created, one.refused, one.reason]),
  ).toEqual([
    ['one.csv', 'done', 1, 0, null],
    ['two.csv', 'done', 1, 0, null],
    ['zip-named.csv', 'failed', 0, 0, expect.stringContaining('ZIP')],
    ['empty.csv', 'failed', 0, 0, 'the file is empty'],
    ['last.csv', 'done', 0, 1, null],
  ])
  expect(console.plants()).toEqual([
    [1n, 'Fern'],
    [2n, 'Ivy'],
  ])
})
