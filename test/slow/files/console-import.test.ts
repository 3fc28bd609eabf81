// Imports in the console, with a real daemon and without a browser: the question about each file, and the result.
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
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

/** Creates the importer of a console that is connected to its own daemon. */
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
    session,
    importer,
    /** Imports a file that raises a question, after `answer` has handled its preview. */
    async import(file: File, answer: (preview: Preview) => unknown = () => {}): Promise<Preview> {
      const adding = importer.add([file])
      const preview = await previewOf(importer)
      await answer(preview)
      await whole(preview)
      preview.accept()
      await adding
      return preview
    },
    plants: () =>
      storedPlants(database).map(({ id, name, tag }) =>
        [id, name, tag].filter((value) => value !== null).join(),
      ),
    async [Symbol.asyncDispose]() {
      await daemon.kill()
      folder[Symbol.dispose]()
    },
  }
}

/** Returns the preview of a file, once the file is read whole. */
async function previewOf(importer: Importer): Promise<Preview> {
  const form = await until('the form', () => importer.current.value?.form)
  const { preview } = form.props as unknown as { preview: Preview }
  return whole(preview)
}

/** Waits until a preview has read all that it can read. */
async function whole(preview: Preview): Promise<Preview> {
  await until('the whole preview', () => !preview.input.value || preview.analysis.value?.isWhole)
  return preview
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

/** Imports a file, and accepts its preview if there is one and it is ready. */
async function importShown(importer: Importer, file: File) {
  const adding = importer.add([file])
  await until('the question, or the end', () => {
    const { form, state } = importer.current.value ?? {}
    return form || state === 'done' || state === 'failed'
  })
  const preview = importer.current.value?.form ? await previewOf(importer) : null
  const isReady = preview?.isReady !== false
  if (isReady) preview?.accept()
  else preview?.cancel()
  await adding
  return { isAsked: preview !== null, isReady, preview }
}

/** Returns a notice of the command in the words of the form. */
const inForm = (notice: string): string =>
  notice.replace(/use --null '?(\S+?)'? to/, 'type $1 as the text of empty cells to')

test.each(WANTED_FILES.map((wanted) => [wanted.file, wanted] as const))(
  '%s becomes the expected plants with the columns shown',
  async (name, wanted) => {
    const { words, plants, inConsole = plants, refused = 0, proposed, err = [] } = wanted
    await using console = await start()
    const { importer } = console

    const { isAsked, isReady, preview } = await importShown(importer, fileOf(name))

    expect(console.plants()).toEqual([...inConsole])
    // The first rows shown in the form are stored.
    const shownRows = preview?.analysis.value?.examples ?? []
    if (isReady && refused === 0)
      for (const { id, name, tag } of shownRows)
        expect(console.plants()).toContain([id, name, tag].filter((it) => it !== undefined).join())
    if (!isReady) return expect(inConsole).toEqual([])
    // A file that needs a choice or a decision is shown first.
    if (words === undefined)
      expect(isAsked).toBe(proposed !== undefined || refused > 0 || wanted.isAsked === true)
    const notices = err?.slice(refused).filter((line) => !/^(reading|sheet) /.test(line))
    expect(importer.current.value).toMatchObject({
      state: 'done',
      notices: wanted.notices ?? notices?.map(inForm),
    })
    if (inConsole === plants) expect(importer.current.value?.refused).toBe(refused)
  },
)

test('workbook.xlsx is read from the chosen sheet, and a cell without a stored value is refused', async () => {
  await using console = await start()
  const { importer } = console

  await console.import(fileOf('workbook.xlsx'), async (preview) => {
    expect(preview.readable.value?.table.sheets).toEqual(['Notes', 'Plants'])
    await preview.read({ sheet: 'Plants' })
    const { id, name, tag } = preview.columns.value
    expect([id, name, tag]).toEqual([0, [1], null])
    expect(preview.analysis.value?.problems).toMatchObject([
      { line: 4, problem: 'name: a formula without a stored value in cell B4' },
    ])
    preview.choose({ tag: 2 })
  })

  expect(counts(importer)).toEqual(done(4, { refused: 1, rows: 5 }))
})

test.each([
  ['text-ids.csv', 2],
  ['today.csv', 1],
])('%s has ids that are not numbers; its rows can be numbered instead', async (name, created) => {
  await using console = await start()
  const { importer } = console

  await console.import(fileOf(name), (preview) => {
    expect(preview.analysis.value?.problems[0]?.problem).toEndWith(
      '(choose "Number the rows" as the ID)',
    )
    preview.choose({ id: null })
  })

  expect(counts(importer)).toEqual(done(created))
})

test('hidden-stop.csv shows its first problems, and its refused rows can be saved', async () => {
  await using console = await start()
  const { importer } = console

  const { analysis } = await console.import(fileOf('hidden-stop.csv'))
  expect(analysis.value).toMatchObject({
    rows: 28,
    refused: 25,
    unreadReason: 'from line 30 on: unterminated quote in "name"',
    problems: [{ line: 5 }, { line: 6 }, { line: 7 }],
  })

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

  test.each([
    ['differs', '7500,other', { created: 1, differing: 1, unchanged: 2500 }, 0],
    ['is refused', 'x,bad', { created: 1, differing: 0, unchanged: 2500 }, 1],
  ])('raises a question even if only the last row %s', async (_, last, compared, refused) => {
    await using console = await startWithYesterday()
    await console.importer.add([csv('id,name\n7500,last\n')])

    const file = csv(['id,name', '-5,new', ...rows, last].join('\n'))
    const { analysis } = await console.import(file, (preview) => preview.cancel())

    expect(analysis.value).toMatchObject({ comparison: compared, refused })
    expect(console.plants()).toHaveLength(2501)
  })

  test('stores nothing if it is stopped during the comparison', async () => {
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

    await console.import(csv(`${today}\n21,again\n`), ({ analysis, replaces }) => {
      expect(analysis.value?.comparison).toMatchObject({ differing: 3 })
      replaces.value = true
    })

    expect(importer.current.value).toMatchObject({
      state: 'done',
      created: 1,
      skipped: 2498,
      replaced: 3,
      refused: 0,
    })
    expect(console.plants()[8]).toBe('21,again')
  })

  test('keeps the stored tags if it has no tag column', async () => {
    await using console = await start()
    const { importer } = console
    await importer.add([fileOf('stored.ndjson')])

    await console.import(fileOf('no-tag-column.csv'), ({ analysis, replaces }) => {
      const counts = { created: 0, differing: 1, unchanged: 1 }
      expect(analysis.value?.comparison).toMatchObject(counts)
      replaces.value = true
    })
    const counts = { state: 'done', skipped: 1, replaced: 1, refused: 0 }
    expect(importer.current.value).toMatchObject(counts)
    expect(console.plants()).toEqual(['1,Fern,shade', '2,Hedera,climber'])
    await importer.add([csv('id,name\n1,Fern\n')])
    expect(importer.current.value).toMatchObject({ state: 'done', skipped: 1, refused: 0 })
    await console.import(csv('id,name\n1,Fern\n2,Ivy\n'))
    expect(importer.current.value).toMatchObject({ state: 'done', skipped: 1, refused: 1 })
  })
})

describe('an import that stops early', () => {
  const bad = Array.from({ length: 30 }, (_, n) => `P${n},a\n`).join('')
  const good = Array.from({ length: 1200 }, (_, n) => `${n},a\n`).join('')

  test.each([
    ['a few rows', 'id,name\n1,a\n2,"never closed\n3,lost\n', 1, 0, 'from line 3 on'],
    ['many refused rows', `id,name\n${bad}1,good\n2,"never closed\n`, 1, 30, 'from line 33 on'],
    ['many rows', `id,name\n${good}x,"never closed\n3,lost\n`, 1200, 0, 'from line 1202 on'],
  ])('reports that it stopped after %s', async (_, text, created, refused, from) => {
    await using console = await start()
    const { importer } = console

    await importShown(importer, csv(text))

    expect(counts(importer)).toEqual({
      state: 'failed',
      created,
      skipped: 0,
      refused,
      rows: created + refused,
      unreadReason: `${from}: unterminated quote in "name"`,
    })
  })

  test('reports that the user stopped it, and continues when it is repeated', async () => {
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

  test('reports that the service refused', async () => {
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

  test('mentions no remaining rows if the service refuses the first ones', async () => {
    await using console = await start()
    const { importer, session } = console
    session.persist = async () => FULL

    // The comparison fails, so the file is shown first.
    await console.import(csv('id,name\n1,a\n'))

    expect(counts(importer)).toMatchObject({
      state: 'failed',
      created: 0,
      rows: 0,
      unreadReason: 'the disk is full',
    })
  })
})

describe('the preview', () => {
  test('numbers rows from the id after the largest, but not beyond int64', async () => {
    await using console = await start()
    const { importer } = console
    await importer.add([csv('id,name\n41,a\n-3,b\n')])

    const { analysis } = await console.import(csv('latin\nFern\n'), (preview) => preview.cancel())
    expect(analysis.value?.examples).toEqual([{ id: 42n, name: 'Fern' }])
    expect(importer.current.value).toBeNull()

    await importer.add([csv('id,name\n9223372036854775807,last\n')])
    await console.import(csv('latin\nFern\n'), (preview) => {
      expect([preview.columns.value.numberFrom, preview.input.value]).toEqual(['', null])
      preview.choose({ numberFrom: '7' })
    })
    expect(console.plants()).toContain('7,Fern')
  })

  test('numbers the same file as before, so that its plants are recognized', async () => {
    await using console = await start()
    const { importer } = console
    const file = new File(['latin\nFern\nIvy\n'], 'a.csv', { lastModified: 5 })

    for (const skipped of [0, 2]) {
      await console.import(file)
      expect(counts(importer)).toMatchObject({ state: 'done', created: 2 - skipped, skipped })
    }
  })

  test('reads the file again with another delimiter, encoding or header', async () => {
    await using console = await start()

    await console.import(csv('latin;no|x\nHedera;10|y\n'), async (preview) => {
      expect(preview.readable.value?.table.delimiter).toBe(';')
      await preview.read({ delimiter: '|' })
      expect(preview.readable.value?.table.header).toEqual(['latin;no', 'x'])
      await preview.read({ header: false })
      expect(preview.analysis.value?.rows).toBe(2)
      await preview.read({ encoding: 'utf-16be' })
      expect(preview.error.value).toBe('not UTF-16BE at line 3 or later; choose another encoding')
      await preview.read({ encoding: null, delimiter: ';', header: true })
      preview.choose({ name: [0] })
      expect((await whole(preview)).error.value).toBeNull()
    })
  })

  test('chooses no encoding if several are possible, and reads the file once one is chosen', async () => {
    await using console = await start()
    const bytes = Buffer.from('id,name\n1,Cr\xe8me\n', 'latin1')

    await console.import(new File([bytes], 'a.csv'), async (preview) => {
      expect(preview.detection.problem).not.toBeNull()
      expect([preview.settings.value.encoding, preview.input.value]).toEqual([null, null])
      expect(preview.error.value).toBe(
        'not UTF-8 at line 2: it reads "1,Crème" as windows-1252, "1,Crčme" as windows-1250; choose another encoding',
      )
      await preview.read({ encoding: 'windows-1252' })
      expect(preview.error.value).toBeNull()
    })

    expect(console.plants()).toEqual(['1,Crème'])
  })
})

test('only the doubtful ones of several files raise questions; each has its result', async () => {
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
  const asked = (name: string) =>
    until(`the question about ${name}`, () => {
      const { preview } = (importer.current.value?.form?.props ?? {}) as unknown as {
        preview?: Preview
      }
      return preview?.detection.file.name === name && preview
    })
  ;(await asked('no.csv')).cancel()
  // Its plant is stored with another name.
  ;(await asked('last.csv')).accept()
  await adding

  const all = importer.imports.value
  expect(
    all.map((one) => [one.file.name, one.state, one.created, one.refused, one.reason]),
  ).toEqual([
    ['one.csv', 'done', 1, 0, null],
    ['two.csv', 'done', 1, 0, null],
    ['zip-named.csv', 'failed', 0, 0, expect.stringContaining('workbook')],
    ['empty.csv', 'failed', 0, 0, 'the file is empty'],
    ['last.csv', 'done', 0, 1, null],
  ])
  expect(console.plants()).toEqual(['1,Fern', '2,Ivy'])
})
