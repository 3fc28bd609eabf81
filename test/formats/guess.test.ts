import { expect, test } from 'bun:test'
import { guessColumns, guessTable } from '../../src/formats/guess'
import { cpuTime } from '../harness/cpu-time'
import { open, tableOf, USUAL_COLUMNS } from './reading'

/** Returns the columns that a guess proposes for a text: id, names, tag. */
async function guess(text: string) {
  const { header, sample } = await open('csv', text)
  const { idColumn, nameColumn, tagColumn } = guessColumns(header, sample, true)
  return [idColumn, nameColumn?.join(' + ') ?? null, tagColumn]
}

type Case = readonly [text: string, id: string | null, name: string | null, tag: string | null]

// Modelled on the headers of public files. Null means that no column is convincing; the message then has a placeholder.
const CORPUS: readonly Case[] = [
  // English
  ['sku,Common Name,Category\nA1,Fern,shade\nA2,Ivy,climber', null, 'Common Name', 'Category'],
  ['plant_id,common_name,family\n1,Fern,Polypodiaceae', 'plant_id', 'common_name', 'family'],
  ['Genus,Species,Common Name\nQuercus,alba,White oak', null, 'Genus + Species', null],
  [
    'id,genus,species,cultivar\n1,Rosa,rugosa,Alba\n2,Acer,rubrum,',
    'id',
    'genus + species + cultivar',
    null,
  ],
  ['id,species,genus\n1,Hedera helix,Hedera\n2,Acer rubrum,Acer', 'id', 'species', 'genus'],
  ['species,height\nalba,12\nrubra,15', null, null, null],
  ['Accession No,Taxon,Family\n12,Acer rubrum,Sapindaceae', 'Accession No', 'Taxon', 'Family'],
  ['No.,Latin name,Price\n11,Lamium album,3.50\n12,Acer campestre,9', 'No.', 'Latin name', null],
  ['Number,Botanical Name,Type\n1,Aloe vera,succulent', 'Number', 'Botanical Name', null],
  ['Nr;Typ;Botanischer Name\n71;simple;Tilia cordata', 'Nr', 'Botanischer Name', null],
  ['kind,plant\nliteral,Fern\nuri,Ivy', null, 'plant', null],
  ['Genus,Family\nAbies,Pinaceae\nAcer,Sapindaceae', null, 'Genus', 'Family'],
  ['Genus,Species\nAbies,12\nAcer,15', null, null, null],
  ['Pflanzenart,2024,2025\nAbies alba,3,4\nAcer rubrum,5,6', null, 'Pflanzenart', null],
  ['No of plants,Botanical Name\n1,Aloe vera\n2,Acer rubrum', null, 'Botanical Name', null],
  ['Item No,Plant Name,Plant Group\n4,Fern,shade', 'Item No', 'Plant Name', 'Plant Group'],
  ['file name,plant\nfern.jpg,Fern\nivy.jpg,Ivy', null, 'plant', null],
  ['image_name,user_name\na.png,ann', null, null, null],
  ['Collector Name,Institution\nA. Smith,Lab', null, null, null],
  ['Supplier name,Vernacular name\nNursery Ltd,Lily', null, 'Vernacular name', null],
  ['key,title\n1,Planting out\n2,Watering', 'key', null, null],
  ['name_latin,name_english\nAcer rubrum,Red maple', null, 'name_latin', null],
  ['Species (Latin),Zone\nAcer rubrum,3', null, null, null],
  [
    'Scientific Name (full),Family Name\nAcer rubrum L.,Sapindaceae',
    null,
    'Scientific Name (full)',
    'Family Name',
  ],
  ['plantName,plantType\nFern,shade', null, 'plantName', 'plantType'],
  ['phone no,contact\n5551234,Ann\n5555678,Bob', null, null, null],
  ['Quantity,Description\n5,Fine old trees', null, null, null],
  // Darwin Core, GBIF, Kew
  [
    'gbifID\tscientificName\tfamily\n9\tHedera helix\tAraliaceae',
    'gbifID',
    'scientificName',
    'family',
  ],
  ['occurrenceID,scientificName\nurn:lab:1,Hedera helix L.', null, 'scientificName', null],
  ['taxonKey,vernacularName\n5,Ivy', 'taxonKey', 'vernacularName', null],
  [
    'catalogNumber,genus,specificEpithet,family\n7,Acer,rubrum,Sapindaceae',
    'catalogNumber',
    'genus + specificEpithet',
    'family',
  ],
  ['taxon_name,accepted_name\nAcer rubrum,Acer rubrum L.', null, 'taxon_name', null],
  ['recordedBy,locality,eventDate\nAnn,Wall,2024-05-01', null, null, null],
  ['occurrenceID,scientificName\nx,550e8400-e29b-41d4-a716-446655440000', null, null, null],
  ['scientificName,link\nhttps://example.org/a,https://example.org/b', null, null, null],
  // German
  [
    'Artikel-Nr;Bezeichnung;Gruppe\n7;Frauenmantel;Stauden\n8;Salbei;',
    'Artikel-Nr',
    'Bezeichnung',
    'Gruppe',
  ],
  [
    'Lfd. Nr.;Botanischer Name;Deutscher Name\n1;Acer rubrum;Ahorn',
    'Lfd. Nr.',
    'Botanischer Name',
    null,
  ],
  ['Gattung;Art;Sorte\nRosa;rugosa;Alba\nAcer;rubrum;', null, 'Gattung + Art + Sorte', null],
  ['Sorte;Preis\nAlba;3,50\nRubra;4,50', null, null, null],
  ['Nr;Pflanze;Familie\n1;Farn;Polypodiaceae', 'Nr', 'Pflanze', 'Familie'],
  ['Foto;Wissenschaftlicher Name\nfarn.jpg;Acer rubrum', null, 'Wissenschaftlicher Name', null],
  ['Ort;Datum\nMauer;1.5.2024', null, null, null],
  // French
  [
    'Numéro;Nom scientifique;Famille\n1;Acer rubrum;Sapindaceae',
    'Numéro',
    'Nom scientifique',
    'Famille',
  ],
  ['Genre;Espèce\nAcer;rubrum\nRosa;rugosa', null, 'Genre + Espèce', null],
  ['Nom commun;Prix\nFougère;3,50\nLierre;4,50', null, 'Nom commun', null],
  ["Nom de l'auteur;Ville\nA. Dupont;Lyon", null, null, null],
  // Spanish, Italian, Portuguese
  [
    'photo,nombre_comun,nombre_cientifico,familia\nhttps://example.org/a.jpg,Olivo,Olea europaea,Oleaceae',
    null,
    'nombre_cientifico',
    'familia',
  ],
  ['Código,Nombre común,Categoría\n4,Olivo,árbol', 'Código', 'Nombre común', 'Categoría'],
  ['Género,Especie,Familia\nOlea,europaea,Oleaceae', null, 'Género + Especie', 'Familia'],
  [
    'Numero,Nome scientifico,Famiglia\n1,Olea europaea,Oleaceae',
    'Numero',
    'Nome scientifico',
    'Famiglia',
  ],
  ['Pianta,Prezzo\nUlivo,12\nEdera,8', null, 'Pianta', null],
  ['Nome popular,Nome científico\nOliveira,Olea europaea', null, 'Nome científico', null],
  ['Nr.;Baumart;Kategorie\n1;Ahorn;Laubbaum\n2;Fichte;Nadelbaum', 'Nr.', 'Baumart', 'Kategorie'],
  [
    'Número;Nombre científico;Familia\n1;Olea europaea;Oleaceae',
    'Número',
    'Nombre científico',
    'Familia',
  ],
  ['ID Number,Plant\n4,Fern', 'ID Number', 'Plant', null],
  // Rows that are not plants
  ['Nr,Plant,Qty\n1,Fern,3\n2,Ivy,4\n3,Moss,5\nTotal,,12', 'Nr', 'Plant', null],
  ['Nr,Plant,Qty\nFERNS,,\n1,Fern,3\n2,Ivy,4\n,,7\n3,Moss,1', 'Nr', 'Plant', null],
  ['Nr,Plant,Qty\nP-1,Fern,3\nP-2,Ivy,4\n3,Moss,1', null, 'Plant', null],
  ['Nr,Plant,Qty\n1,Fern,3\n,Ivy,4\n,Moss,1', null, 'Plant', null],
  ['Nr,Plant,Qty\n1,Fern,3\n2,Ivy,4\n3,Moss,1\n2,Oak,1', null, 'Plant', null],
  // Headings that say nothing, or whose values do not fit
  ['x,y\nHedera,5\nAcer,7', null, null, null],
  ['name,value\nFern,3.50\nIvy,4', null, 'name', null],
  ['name,value\nspecies,Fern\nheight,4', null, null, null],
  ['name,latin\nFern,Filix\nIvy,Hedera', null, 'name', null],
  ['gid,scientificname,family\na,Acer rubrum,Sapindaceae', null, 'scientificname', 'family'],
  ['latin,dutch\nHedera helix,klimop', null, 'latin', null],
  ['Plant\n2024-05-01\n2024-05-02', null, null, null],
  ['Name of plant,code\nPL-0001,7\nPL-0002,8', null, null, null],
  ['Common name\n12\n13', null, null, null],
]

test('a guess names the right columns, or none, for many headers', async () => {
  for (const [text, ...columns] of CORPUS)
    expect([text, ...(await guess(text))]).toEqual([text, ...columns])
})

test.each([
  ['Seed list 2026\nNr,Name,Gruppe', 2],
  // None of these headings is known.
  ['Seed list 2026\nXyz,Abc,Def', 2],
  // Groups of columns.
  ['Plant,,Care,\nid,name,tag,water', 2],
  ['Source,Bonn\nDate,2024-05-01\nid,name,tag', 3],
  // The first rows may be plants.
  ['Fern,shade\nIvy,sun\nid,name,tag', undefined],
  ['Fern,3.50\nIvy,4\nid,name,tag', undefined],
  ['Fern,\nIvy,climber\nMoss,shade', undefined],
  ['Fern\nIvy\nRose,climbing\nHosta', undefined],
  ['Fern\nHolly, common\nIvy, dwarf', undefined],
  ['1001,Fern\n1002,Ivy\nNr,Name,Group', undefined],
  ['a\nb\nc\nd\ne\nf\nNr,Name', undefined],
])('a guess finds the header below other rows unless they may be plants: %j', (text, headerRow) => {
  const [header = [], ...rows] = `${text}\n1,Moss,wall\n2,Oak,wood`
    .split('\n')
    .map((line) => line.split(','))

  expect(guessTable(tableOf(header, rows)).settings.headerRow).toBe(headerRow)
})

test('a guess proposes a list inside JSON rows only if it has plants and the rows do not', async () => {
  const listOf = async (rows: readonly object[]) =>
    guessTable(await open('json', JSON.stringify(rows))).settings.list
  const plants = [{ id: 7, name: 'Fern' }]

  expect(await listOf([{ type: 'header' }, { name: 'garden', data: plants }])).toBe('data')
  expect(await listOf([{ bed: 'sun', own: { plants } }])).toBe('own.plants')
  expect(await listOf([{ latin: 'Filix', synonyms: [{ name: 'Fern' }] }])).toBeUndefined()
  expect(await listOf([{ nr: 1, latin: 'Filix', parts: plants }])).toBeUndefined()
  // Pairs of a name and a value are not plants.
  expect(await listOf([{ bed: 1, facts: [{ name: 'species', value: 'Fern' }] }])).toBeUndefined()
})

test('a guess treats a header with a number other than a year as a plant', () => {
  const years = tableOf(['Bestand', '2024', '2025'], [['Abies alba', '3', '4']])
  const plants = tableOf(['Tomato', 'Solanaceae', '12'], [['Basil', 'Lamiaceae', '30']])

  expect(guessTable(years).settings).toEqual({})
  expect(guessTable(plants)).toEqual({
    settings: { header: false },
    columns: { ...USUAL_COLUMNS, numberFrom: 1n, nameColumn: ['1'], tagColumn: '2' },
  })
})

test.each([
  ['csv', 'Ivy, common\nFern, lady\nHolly, sea\n'],
  ['csv', 'id,1,2\nname,Fern,Ivy\ntag,shade,climber\n'],
  ['json', '{"id":{"a":1,"b":2},"name":{"a":"Fern","b":"Ivy"}}'],
  ['json', '{"plant":{"0":"Fern","1":"Ivy"},"height":{"0":30,"1":50}}'],
] as const)(
  'a guess never mistakes part of a name or a heading for a plant: %s %j',
  async (format, text) => {
    const table = await open(format, text, { list: format === 'json' ? '*' : null })

    expect(guessTable(table).columns?.nameColumn).toBeNull()
  },
)

test.each([
  ['12,Fern\n15,Ivy\n40,Moss', '1', ['2']],
  // Prices, or only two rows, are no evidence of ids.
  ['12,Fern\n9,Ivy\n40,Moss', null, ['2']],
  ['Fern,12\nIvy,15\nMoss,40', null, ['1']],
  ['12,Fern\n15,Ivy', null, ['2']],
])(
  'without a header, a guess uses rising numbers before the names as ids: %p',
  async (text, id, name) => {
    expect(guessTable(await open('csv', text))).toMatchObject({
      settings: { header: false },
      columns: { idColumn: id, numberFrom: id === null ? 1n : null, nameColumn: name },
    })
  },
)

test('a guess takes bounded time at any width', () => {
  const header = Array.from({ length: 200_000 }, (_, place) => `c${place}`)
  const table = tableOf(header, Array(1000).fill(header))
  const from = cpuTime()

  guessTable(table)

  expect(cpuTime() - from).toBeLessThan(5000)
})
