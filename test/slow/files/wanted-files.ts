// The expected results of real-world files (test/real-world/README.md) in the command and the console, a row per file.

export type WantedFile = {
  readonly file: string
  /** The options of the first command; after that, the proposed commands are run. */
  readonly words?: string
  /** The stored plants, each as id, name and tag. */
  readonly plants: readonly string[]
  /** The last command's lines on standard error, or null if it proposes a command with a placeholder for a column. */
  readonly err?: readonly string[] | null
  /** The options of the last proposed command. */
  readonly proposed?: string
  /** The number of lines in `err` that are about refused rows. */
  readonly refused?: number
  /** The end of the summary. */
  readonly summary?: string
  /** The plants that the console stores instead: it proposes all columns at once, and has no options. */
  readonly inConsole?: readonly string[]
  /** The notices of the console, if they differ from those of the command. */
  readonly notices?: readonly string[]
  /** True if the console asks even though nothing is proposed. */
  readonly isAsked?: true
}

export const WANTED_FILES: readonly WantedFile[] = [
  { file: 'wider-rows.csv', plants: ['1,Fern,shade', '2,Ivy,climber'] },
  { file: 'short-rows.csv', plants: ['1,Fern,shade', '2,Ivy', '3,Moss'] },
  { file: 'blank-rows.csv', plants: ['1,Fern,shade'] },
  {
    file: 'spaces.csv',
    plants: ['1,Fern, shade', '2,Ivy, climber'],
    err: ['line 2: the space around the tag " shade" is part of it'],
  },
  {
    file: 'literal-quotes.tsv',
    plants: ['1,fern in a 6" pot,shade', '2,Rosa "Anna",rose', '3,Ivy,climber'],
  },
  { file: 'macintosh.csv', plants: ['1,Café fern,shade'], proposed: '--encoding macintosh' },
  {
    file: 'smart-quotes.csv',
    plants: ['1,Lady’s mantle,herb', '2,Rosa ‘Peace’,rose', '3,Hosta – mixed,shade'],
    proposed: '--encoding windows-1252',
  },
  {
    file: 'cyrillic.csv',
    plants: ['1,Дуб,деревья', '2,Ель,хвойные'],
    proposed: '--encoding windows-1251',
  },
  {
    file: 'polish.csv',
    plants: ['1,Dąb,drzewa', '2,Żywotnik,krzewy'],
    proposed: '--encoding windows-1250',
  },
  {
    file: 'no-id.csv',
    plants: ['1,Hedera helix'],
    err: ['columns not used: "dutch"'],
    proposed: '--number-from 1 --name-column latin',
  },
  {
    file: 'other-names.csv',
    plants: ['1,Fern,Polypodiaceae'],
    proposed: '--id-column plant_id --name-column common_name --tag-column family',
  },
  {
    file: 'no-header.csv',
    plants: ['1,Tomato,Solanaceae', '2,Basil,Lamiaceae', '3,Chives,Amaryllidaceae'],
    proposed: '--no-header --number-from 1 --name-column 1 --tag-column 2',
  },
  {
    file: 'herbarium.csv',
    plants: [
      '107,Hedera helix L.,Araliaceae',
      '108,Viola × wittrockiana,Violaceae',
      '109,Acer pseudoplatanus L.,Sapindaceae',
    ],
    err: [
      'columns not used: "occurrenceID", "institutionCode", "locality", "eventDate"',
      'leading zeros are dropped: 000107 becomes 107',
    ],
    proposed: '--id-column catalogNumber --name-column scientificName --tag-column family',
  },
  {
    file: 'price-list.csv',
    plants: ['1001,Frauenmantel,Stauden', '1002,Günsel »Rosea«,Stauden', '1003,Große Sternmiere'],
    err: ['columns not used: "Preis"'],
    proposed:
      '--encoding windows-1252 --id-column Artikel-Nr --name-column Bezeichnung --tag-column Gruppe',
  },
  {
    file: 'download.tsv',
    plants: [
      '4021345678,Hedera helix L.,Hedera',
      '4021345679,Rosa "Anna",Rosa',
      '4021345680,Aloe vera (L.) Burm.f.,Aloe',
    ],
    err: ['columns not used: "verbatimLabel"'],
    proposed: '--id-column gbifID --name-column scientificName --tag-column genus',
  },
  {
    file: 'photo-first.csv',
    plants: ['1,Olea europaea,Oleaceae', '2,Salvia rosmarinus,Lamiaceae'],
    err: ['columns not used: "photo", "nombre_comun"'],
    proposed: '--number-from 1 --name-column nombre_cientifico --tag-column familia',
  },
  {
    file: 'genus-species.csv',
    plants: ['1,Quercus alba,Fagaceae', '2,Quercus rubra,Fagaceae', '3,Morus alba,Moraceae'],
    err: ['columns not used: "Common Name"'],
    proposed: '--number-from 1 --name-column Genus --name-column Species --tag-column Family',
  },
  {
    file: 'title-row.csv',
    plants: ['1,Fern,shade', '2,Ivy,climber'],
    proposed: '--header-row 3 --id-column Nr --name-column Name --tag-column Gruppe',
  },
  {
    file: 'title-row.xlsx',
    plants: ['11,Lamium album,herb', '12,Acer campestre,tree'],
    proposed: "--header-row 2 --id-column No --name-column 'Latin name' --tag-column Group",
  },
  { file: 'preamble.csv', plants: ['1,Fern'], proposed: '--header-row 3' },
  { file: 'wrapped.json', plants: ['1,Fern', '2,Ivy'], err: ['reading the list "plants"'] },
  { file: 'pretty.ndjson', plants: ['1,Fern', '2,Ivy'] },
  { file: 'features.geojson', plants: ['1,Lime', '2,Oak'], err: ['reading the list "features"'] },
  {
    file: 'date-times.xlsx',
    plants: [
      '1,00:02,2026-05-01 00:02',
      '2,06:30,2026-05-01 06:30',
      '3,09:05,2026-05-01 09:05',
      '4,12:36,2026-05-01 12:36',
    ],
  },
  { file: 'time-only.xlsx', plants: ['1,Fern,06:30', '2,with seconds,2026-05-01 12:36:30'] },
  {
    file: 'two-sheets.xlsx',
    plants: ['1,Fern'],
    err: ['sheet "Shade"; use --sheet to read "Sun"'],
    isAsked: true,
  },
  { file: 'hidden-first-sheet.xlsx', plants: ['7,Fern'] },
  { file: 'merged-tag.xlsx', plants: ['1,Fern,shade', '2,Hosta,shade', '3,Ivy,shade'] },
  { file: 'cells-without-r.xlsx', plants: ['1,Fern,shade', '2,Ivy'] },
  {
    file: 'side-note.xlsx',
    plants: ['1,Fern,shade', '2,Ivy,climber'],
    err: ['not read, without a heading: column 5'],
  },
  {
    file: 'records-fields.json',
    plants: ['1,Acer rubrum', '2,Quercus alba'],
    err: ['columns not used: "datasetid", "recordid", "geometry.type", "geometry.coordinates"'],
    proposed: '--id-column fields.nr --name-column fields.genus --name-column fields.species',
  },
  {
    file: 'elements-tags.json',
    plants: ['11,Acer rubrum', '12,Quercus alba'],
    err: ['columns not used: "type", "lat", "lon", "tags.natural"', 'reading the list "elements"'],
    proposed: '--name-column tags.species',
  },
  { file: 'rows-as-arrays.json', plants: ['1,Fern,shade', '2,Ivy,climber'] },
  {
    file: 'names-only.json',
    plants: ['1,Fern', '2,Ivy', '3,Moss'],
    err: ['reading the list "flowers"'],
    proposed: '--list flowers --number-from 1',
  },
  {
    file: 'keyed-by-name.json',
    plants: ['1,Fern', '2,Ivy'],
    err: ['columns not used: "light"', 'reading the list "*"'],
    proposed: "--list '*' --number-from 1 --name-column key",
  },
  {
    file: 'one-word-headings.csv',
    plants: ['1,Acer rubrum,Sapindaceae', '2,Quercus alba,Fagaceae', '3,Tilia cordata,Malvaceae'],
    proposed: '--name-column scientificname --tag-column family',
  },
  { file: 'emoji-reference.xlsx', plants: ['1,Fern 🌱'] },
  {
    file: 'collection.json',
    plants: ['1,Monstera deliciosa,Aroid', '2,Ficus lyrata,Fig', '3,Aloe vera,Succulent'],
    err: ['columns not used: "common", "origin"'],
    proposed: '--number-from 1 --name-column latin --tag-column category',
  },
  { file: 'empty-names.json', plants: ['1,,', '2,Fern,'], summary: '; 1 has an empty name' },
  {
    file: 'first-row-short.csv',
    plants: [],
    err: null,
    proposed: '--number-from 1 --name-column COLUMN',
  },
  {
    file: 'forty-columns.csv',
    plants: [],
    err: null,
    proposed: '--number-from 1 --name-column COLUMN',
  },
  {
    file: 'year-headings.csv',
    plants: ['1,Abies alba', '2,Acer rubrum'],
    err: ['columns not used: "2024", "2025"'],
    proposed: '--number-from 1 --name-column Pflanzenart',
  },
  {
    file: 'only-counts.csv',
    plants: ['1,Quercus alba', '2,Tilia cordata', '3,Ulmus glabra'],
    proposed: '--no-header --number-from 1 --name-column 1',
  },
  {
    file: 'phpmyadmin.json',
    plants: ['1,Fern', '2,Ivy'],
    err: ['reading the list "data"'],
    proposed: '--list data',
  },
  { file: 'sparql.json', plants: [], err: null, proposed: '--number-from 1 --name-column COLUMN' },
  {
    file: 'shop-2.csv',
    plants: ['71,Tilia cordata', '72,Ulmus glabra', '73,Acer campestre'],
    err: ['columns not used: "Typ", "Preis"'],
    proposed: "--id-column Nr --name-column 'Botanischer Name'",
  },
  {
    file: 'genus-alone.csv',
    plants: ['1,Abies,Pinaceae', '2,Acer,Aceraceae'],
    err: ['columns not used: "genus_id", "family_id"'],
    proposed: '--number-from 1 --name-column genus --tag-column family',
  },
  {
    file: 'repeated-header.csv',
    words: "--name-column 'Latin name' --number-from 1",
    plants: ['1,Abies alba', '2,Acer rubrum'],
    err: ['columns not used: "Family"', '1 row without a plant was skipped: line 3'],
    inConsole: ['1,Abies alba,Pinaceae', '2,Acer rubrum,Sapindaceae'],
    notices: ['1 row without a plant was skipped: line 3'],
  },
  {
    file: 'repeated-header-bom.csv',
    plants: ['1,Fern', '2,Ivy'],
    err: ['1 row without a plant was skipped: line 3'],
  },
  { file: 'called-name.csv', plants: ['1,Fern,shade', '2,name,tag', '3,Ivy,name'] },
  {
    file: 'r-write-csv.csv',
    plants: ['1,Fern,NA', '2,NA,shade', '3,Ivy,NA'],
    err: [
      'columns not used: column 1',
      'NA is stored as text in 3 cells; use --null NA to leave it out',
    ],
  },
  {
    file: 'mysql-outfile.tsv',
    words: '--no-header --id-column 1 --name-column 2 --tag-column 3',
    plants: ['1,Fern,\\N', '2,Ivy\\tgreen,shade', '3,C:\\\\x,\\N'],
    err: [`\\N is stored as text in 2 cells; use --null '\\N' to leave it out`],
    inConsole: [],
  },
  {
    file: 'null.csv',
    plants: ['1,Dill,NULL', '2,Chervil,herb'],
    err: ['NULL is stored as text in 1 cell; use --null NULL to leave it out'],
  },
  {
    file: 'n-a.csv',
    plants: ['8,Dill,N/A', '9,Borage,herb'],
    err: ['N/A is stored as text in 1 cell; use --null N/A to leave it out'],
  },
  {
    file: 'bad-tail-ids.tsv',
    plants: Array.from({ length: 400 }, (_, at) =>
      at < 100 ? `${at + 1},Abies a${at + 1}` : `${at + 1},Acer b${at - 99}`,
    ),
    err: ['columns not used: "ID"'],
    proposed: '--number-from 1 --name-column scientificName',
  },
  { file: 'hybrid.csv', plants: ['1,Abies ×shastensis'], proposed: '--encoding windows-1252' },
  { file: 'besancon.csv', plants: ['7,Besançon,rose'], proposed: '--encoding windows-1252' },
  {
    file: 'pipes-literal.csv',
    words: '--id-column plant_name_id --name-column taxon_name',
    plants: [
      '1,Abies alba',
      '2,Acer rubrum',
      '3,Rosa "Iceberg',
      '4,"Quercus" alba',
      '5,Ilex',
      '6,Salix',
    ],
    err: ['columns not used: "place_of_publication"'],
    notices: ['columns not used: "plant_name_id", "place_of_publication"'],
  },
  {
    file: 'pipes-quoted.txt',
    plants: ['1,Fern | tall,shade', '2,Ivy "Gold"', '3,Moss,damp | dark'],
  },
  {
    file: 'datasette-arrays.json',
    plants: ['1,Fern,shade', '2,Ivy'],
    err: ['reading the list "rows"'],
  },
  {
    file: 'pandas-split.json',
    plants: ['1,Fern,shade', '2,Ivy'],
    err: ['reading the list "data"'],
  },
  {
    file: 'arrays-no-header.json',
    plants: ['1,Fern,shade', '2,Ivy'],
    proposed: '--no-header --id-column 1 --name-column 2 --tag-column 3',
  },
  {
    file: 'perenual.json',
    plants: ['1,Abies alba', '2,Acer rubrum'],
    err: ['columns not used: "common_name", "other_name"', 'reading the list "data"'],
    proposed: '--name-column scientific_name',
  },
  { file: 'python-nan.json', plants: ['1,Fern', '2,Ivy,shade'] },
  {
    file: 'checkbox.xlsx',
    words: '--strict',
    plants: ['1,Fern,shade', '2,Ivy'],
    err: [
      'columns not used: "watered"',
      '26 rows without a plant were skipped, the first in line 4',
    ],
  },
  {
    file: 'gsheets-checkbox.csv',
    plants: ['1,Fern', '2,Ivy'],
    err: ['columns not used: "done"', '2 rows without a plant were skipped, the first in line 4'],
  },
  {
    file: 'formula-rows.csv',
    plants: ['1,Fern', '2,Ivy'],
    err: [
      'columns not used: "price", "qty", "total"',
      '2 rows without a plant were skipped, the first in line 4',
    ],
    proposed: '--number-from 1',
  },
  {
    file: 'half-rows.csv',
    plants: ['8,Fern'],
    refused: 2,
    err: ['line 2: name is missing', 'line 4: id is missing', 'columns not used: "done"'],
  },
  {
    file: 'ods-trailing-space.ods',
    plants: ['1,trail '],
    err: ['line 2: the space around the name "trail " is part of it'],
  },
  { file: 'no-styles.ods', plants: ['1,Fern'] },
  {
    file: 'two-groups.csv',
    plants: ['1,Fern,shade', '2,Ivy,sun'],
    err: ['columns not used: "water"'],
    proposed: '--header-row 2',
  },
  {
    file: 'two-header-rows.xlsx',
    plants: ['1,Fern,shade', '2,Ivy,sun'],
    err: ['columns not used: "water"'],
    proposed: '--header-row 2',
  },
  {
    file: 'ean-exponent.csv',
    words: '--id-column EAN --replace',
    plants: [],
    refused: 2,
    err: [
      'line 2: id: 4.00638E+12 may have been rounded: format the column as text, and enter the id again',
      'line 3: id: 4.00638E+12 may have been rounded: format the column as text, and enter the id again',
    ],
    inConsole: ['1,Fern', '2,Ivy'],
    notices: ['columns not used: "EAN"'],
  },
  {
    file: 'workbook.xlsx',
    words: '--sheet Plants --id-column Nr. --name-column Plant --tag-column Bed',
    plants: [
      '1,Fern,shade',
      '2,Viola × wittrockiana',
      '5,1/2,herb',
      '9223372036854775807,Ivy "Anna"\nwhite,climber',
    ],
    err: [
      'line 4: name: a formula without a stored value in cell B4',
      'columns not used: "Planted", "Watered"',
      'sheet "Plants"; use --sheet to read "Notes"',
    ],
    refused: 1,
    inConsole: [],
  },
  { file: 'tomorrow.csv', plants: ['1,Fern'] },
  {
    file: 'text-ids.csv',
    words: '--number-from 1',
    plants: ['1,Fern', '2,Ivy'],
    err: ['columns not used: "ID"'],
    inConsole: [],
    notices: [],
  },
]
