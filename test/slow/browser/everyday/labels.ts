// The parts of the console, found by name as a person finds them.

/** Selects the rows of plants. */
export const ROW = '[aria-label=Plants] :is([role=row], tr)'
export const CELL = '[role=gridcell], td'

/** An element to find, by kind and name, in the row of a plant if one is given. */
export type Target = {
  /** A CSS selector for the kind of element. */
  readonly kind: string
  /** The whole name, or a pattern that the name contains. */
  readonly name: string | { readonly pattern: string }
  /** The id of the plant. */
  readonly row?: string
}

const BUTTON = 'button, summary, [role=button]'
const FIELD = 'input, textarea'

const button = (name: Target['name'], row?: string): Target => ({
  kind: BUTTON,
  name,
  ...(row === undefined ? {} : { row }),
})
const field = (name: string): Target => ({ kind: FIELD, name })
const like = (pattern: string) => ({ pattern })

export const token = field('Token')
export const sortByName = button('Name')
export const table: Target = { kind: '[role=grid], table', name: 'Plants' }

export const id = field('ID')
export const name = field('Name')
export const tag = field('Tag')
/** The field of a cell that is edited in place. */
export const cellField = (text: 'Name' | 'Tag', plant: string): Target =>
  field(`${text} of plant ${plant}`)
export const newTag = field('New name')
export const tagForAll = field('Tag for all of them')

export const boxOfAll: Target = { kind: 'input', name: 'Select all' }
export const selected = (text: string): Target => ({ kind: '[role=status]', name: text })
export const deleteAll: Target = { kind: '.selected button', name: 'Delete' }
export const heading = (text: string): Target => ({ kind: 'h2', name: text })
export const control = (label: string): Target => button(label)

/** A sentence of the page. */
export const text = (sentence: string): Target => ({ kind: 'span, p', name: sentence })

/** The row of a plant. */
export const row = (plant: string): Target => ({
  kind: ROW,
  name: like(''),
  row: plant,
})
/** A text in the row of a plant: its name or its tag. */
export const cell = (plant: string, text: string): Target => ({
  kind: CELL,
  name: text,
  row: plant,
})
/** The tag of a plant, which filters by it. */
export const tagOf = (plant: string, text: string): Target => button(text, plant)
export const undo = button(like('^Undo the'))

export const search = field('Search')
export const showAll = button('Show all plants')

export const file: Target = { kind: 'input[type=file]', name: like('') }
/** The button that starts an import from its preview. */
export const startImport = button(like('^Import(?!…| an?other| a file| it again)'))

export const exportMenu = button(like('^Export'))

/** The choice in the preview of an import. */
export const replace: Target = { kind: 'input', name: 'Replace the plants that differ' }
/** The status line of an import. */
export const status = (pattern: string): Target => ({ kind: '[role=status]', name: like(pattern) })
