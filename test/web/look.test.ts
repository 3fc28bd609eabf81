// The look shared by both pages: one scale of type, and one of spaces.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { Glob } from 'bun'
import { root } from '../harness/daemon'

const folder = join(root, 'src/web')
const names = [...new Glob('**/*.css').scanSync(folder)]
const sheets = await Promise.all(
  names.map(async (name) => ({ name, text: await Bun.file(join(folder, name)).text() })),
)

/** The values of a property of every sheet but that of the scale itself. */
const valuesOf = (property: RegExp) =>
  sheets
    .filter(({ name }) => name !== 'look.css')
    .flatMap(({ name, text }) =>
      [...text.matchAll(/([\w-]+): ([^;{}]+);/g)]
        .filter(([, found = '']) => property.test(found))
        .map(([line, , value = '']) => ({ place: `${name}: ${line}`, value })),
    )

test('text has a size of the scale, or one relative to the text around it', () => {
  const sizes = valuesOf(/^font-size$/)

  expect(sizes.length).toBeGreaterThan(20)
  expect(
    sizes.filter(
      ({ value }) => !/^(var\(--(tiny|small|body|large|title)\)|0\.875em|0)$/.test(value),
    ),
  ).toEqual([])
})

test('spaces are eighths of a rem', () => {
  const spaces = valuesOf(/^(padding|margin|gap|--gap)/)
  const eighths = (length: string) => Number.isInteger(Number.parseFloat(length) * 8)

  expect(spaces.length).toBeGreaterThan(100)
  expect(
    spaces.filter(({ value }) => !(value.match(/[\d.]+(?=rem)/g) ?? []).every(eighths)),
  ).toEqual([])
})
