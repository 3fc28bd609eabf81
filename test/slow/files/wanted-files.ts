// What becomes of files as people have them (test/real-world/README.md), in the command and in the console: a row a file.

type Plants = readonly (readonly (bigint | string)[])[]

type WantedFile = {
  readonly file: string
  /** The options that the user gives; the lines that messages propose are pasted after that. */
  readonly words?: readonly string[]
  /** The plants that the command stores. */
  readonly plants: Plants
  /** What the last command writes to standard error; null: it proposes a line with a word for a column. */
  readonly err: string | null
  /** What the last proposed line has in it. */
  readonly proposed?: string
  readonly refused?: number
  /** What the console stores, if it differs: it proposes all columns at once. */
  readonly inConsole?: Plants
  /** The notices of the console, if they differ from those of the command. */
  readonly notices?: readonly string[]
}

const FERN_AND_IVY: Plants = [
  [1n, 'Fern'],
  [2n, 'Ivy'],
]
const FERN_IN_SHADE: Plants = [
  [1n, 'Fern', 'shade'],
  [2n, 'Ivy'],
]
const TREES: Plants = [
  [1n, 'Abies alba'],
  [2n, 'Acer rubrum'],
]
const MYSQL = ['--no-header', '--id-column', '1', '--name-column', '2', '--tag-column', '3']
const skipped = (count: number, line: number) =>
  `${count} rows without a plant were skipped, the first in line ${line}`
const ROUNDED =
  '4.00638E+12 may have been rounded: format the column as text, and enter the id again'

export const WANTED_FILES: readonly WantedFile[] = [
  {
    file: 'year-headings.csv',
    plants: TREES,
    err: 'columns not used: "2024", "2025"\n',
    proposed: '--number-from 1 --name-column Pflanzenart',
  },
  {
    file: 'only-counts.csv',
    plants: [
      [1n, 'Quercus alba'],
      [2n, 'Tilia cordata'],
      [3n, 'Ulmus glabra'],
    ],
    err: '',
    proposed: '--no-header --number-from 1 --name-column 1',
  },
  {
    file: 'phpmyadmin.json',
    plants: FERN_AND_IVY,
    err: 'reading the list "data"\n',
    proposed: '--list data',
  },
  { file: 'sparql.json', plants: [], err: null, proposed: '--number-from 1 --name-column COLUMN' },
  {
    file: 'shop-2.csv',
    plants: [
      [71n, 'Tilia cordata'],
      [72n, 'Ulmus glabra'],
      [73n, 'Acer campestre'],
    ],
    err: 'columns not used: "Typ", "Preis"\n',
    proposed: "--id-column Nr --name-column 'Botanischer Name'",
  },
  {
    file: 'genus-alone.csv',
    plants: [
      [1n, 'Abies', 'Pinaceae'],
      [2n, 'Acer', 'Aceraceae'],
    ],
    err: 'columns not used: "genus_id", "family_id"\n',
    proposed: '--number-from 1 --name-column genus --tag-column family',
  },
  {
    file: 'repeated-header.csv',
    words: ['--name-column', 'Latin name', '--number-from', '1'],
    plants: TREES,
    err: 'columns not used: "Family"\n1 row without a plant was skipped: line 3\n',
    inConsole: [
      [1n, 'Abies alba', 'Pinaceae'],
      [2n, 'Acer rubrum', 'Sapindaceae'],
    ],
    notices: ['1 row without a plant was skipped: line 3'],
  },
  {
    file: 'repeated-header-bom.csv',
    plants: FERN_AND_IVY,
    err: '1 row without a plant was skipped: line 3\n',
  },
  {
    file: 'called-name.csv',
    plants: [
      [1n, 'Fern', 'shade'],
      [2n, 'name', 'tag'],
      [3n, 'Ivy', 'name'],
    ],
    err: '',
  },
  {
    file: 'r-write-csv.csv',
    plants: [
      [1n, 'Fern', 'NA'],
      [2n, 'NA', 'shade'],
      [3n, 'Ivy', 'NA'],
    ],
    err: 'columns not used: column 1\nNA is stored as text in 3 cells; use --null NA to leave it out\n',
    notices: [
      'columns not used: column 1',
      'NA is stored as text in 3 cells; type NA as the text of empty cells to leave it out',
    ],
  },
  {
    file: 'mysql-outfile.tsv',
    words: MYSQL,
    plants: [
      [1n, 'Fern', '\\N'],
      [2n, 'Ivy\\tgreen', 'shade'],
      [3n, 'C:\\\\x', '\\N'],
    ],
    err: "\\N is stored as text in 2 cells; use --null '\\N' to leave it out\n",
    inConsole: [],
  },
  {
    file: 'null.csv',
    plants: [
      [1n, 'Dill', 'NULL'],
      [2n, 'Chervil', 'herb'],
    ],
    err: 'NULL is stored as text in 1 cell; use --null NULL to leave it out\n',
    notices: [
      'NULL is stored as text in 1 cell; type NULL as the text of empty cells to leave it out',
    ],
  },
  {
    file: 'n-a.csv',
    plants: [
      [8n, 'Dill', 'N/A'],
      [9n, 'Borage', 'herb'],
    ],
    err: 'N/A is stored as text in 1 cell; use --null N/A to leave it out\n',
    notices: [
      'N/A is stored as text in 1 cell; type N/A as the text of empty cells to leave it out',
    ],
  },
  {
    file: 'bad-tail-ids.tsv',
    plants: [
      ...Array.from({ length: 100 }, (_, at) => [BigInt(at + 1), `Abies a${at + 1}`] as const),
      ...Array.from({ length: 300 }, (_, at) => [BigInt(at + 101), `Acer b${at + 1}`] as const),
    ],
    err: 'columns not used: "ID"\n',
    proposed: '--number-from 1 --name-column scientificName',
  },
  {
    file: 'hybrid.csv',
    plants: [[1n, 'Abies ×shastensis']],
    err: '',
    proposed: '--encoding windows-1252',
  },
  {
    file: 'besancon.csv',
    plants: [[7n, 'Besançon', 'rose']],
    err: '',
    proposed: '--encoding windows-1252',
  },
  {
    file: 'pipes-literal.csv',
    words: ['--id-column', 'plant_name_id', '--name-column', 'taxon_name'],
    plants: [
      [1n, 'Abies alba'],
      [2n, 'Acer rubrum'],
      [3n, 'Rosa "Iceberg'],
      [4n, '"Quercus" alba'],
      [5n, 'Ilex'],
      [6n, 'Salix'],
    ],
    err: 'columns not used: "place_of_publication"\n',
    notices: ['columns not used: "plant_name_id", "place_of_publication"'],
  },
  {
    file: 'pipes-quoted.txt',
    plants: [
      [1n, 'Fern | tall', 'shade'],
      [2n, 'Ivy "Gold"'],
      [3n, 'Moss', 'damp | dark'],
    ],
    err: '',
  },
  {
    file: 'datasette-arrays.json',
    plants: FERN_IN_SHADE,
    err: 'reading the list "rows"\n',
    notices: [],
  },
  {
    file: 'pandas-split.json',
    plants: FERN_IN_SHADE,
    err: 'reading the list "data"\n',
    notices: [],
  },
  {
    file: 'arrays-no-header.json',
    plants: FERN_IN_SHADE,
    err: '',
    proposed: '--no-header --id-column 1 --name-column 2 --tag-column 3',
  },
  {
    file: 'perenual.json',
    plants: TREES,
    err: 'columns not used: "common_name", "other_name"\nreading the list "data"\n',
    proposed: '--name-column scientific_name',
    notices: ['columns not used: "common_name", "other_name"'],
  },
  {
    file: 'python-nan.json',
    plants: [[2n, 'Ivy', 'shade']],
    refused: 1,
    err: 'line 1: not JSON: NaN; write null instead\n',
    notices: [],
  },
  {
    file: 'checkbox.xlsx',
    words: ['--strict'],
    plants: FERN_IN_SHADE,
    err: `columns not used: "watered"\n${skipped(26, 4)}\n`,
  },
  {
    file: 'gsheets-checkbox.csv',
    plants: FERN_AND_IVY,
    err: `columns not used: "done"\n${skipped(2, 4)}\n`,
  },
  {
    file: 'formula-rows.csv',
    plants: FERN_AND_IVY,
    err: `columns not used: "price", "qty", "total"\n${skipped(2, 4)}\n`,
    proposed: '--number-from 1',
  },
  {
    file: 'half-rows.csv',
    plants: [[8n, 'Fern']],
    refused: 2,
    err: 'line 2: name is missing\nline 4: id is missing\ncolumns not used: "done"\n',
    notices: ['columns not used: "done"'],
  },
  {
    file: 'ods-trailing-space.ods',
    plants: [[1n, 'trail ']],
    err: 'line 2: the space around the name "trail " is part of it\n',
  },
  { file: 'no-styles.ods', plants: [[1n, 'Fern']], err: '' },
  {
    file: 'two-groups.csv',
    plants: [
      [1n, 'Fern', 'shade'],
      [2n, 'Ivy', 'sun'],
    ],
    err: 'columns not used: "water"\n',
    proposed: '--header-row 2',
  },
  {
    file: 'two-header-rows.xlsx',
    plants: [
      [1n, 'Fern', 'shade'],
      [2n, 'Ivy', 'sun'],
    ],
    err: 'columns not used: "water"\n',
    proposed: '--header-row 2',
  },
  {
    file: 'ean-exponent.csv',
    words: ['--id-column', 'EAN', '--replace'],
    plants: [],
    refused: 2,
    err: `line 2: id: ${ROUNDED}\nline 3: id: ${ROUNDED}\n`,
    // Numbered, as its column has no ids.
    inConsole: [
      [1n, 'Fern'],
      [2n, 'Ivy'],
    ],
    notices: ['columns not used: "EAN"'],
  },
]
