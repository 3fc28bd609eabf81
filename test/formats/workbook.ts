// Workbooks that are built by hand, and their rows.
import { strToU8, type Zippable, zipSync } from 'fflate'
import type { FileRow } from '../../src/formats/row'
import { readWorkbook } from '../../src/formats/workbook/workbook'

export async function rowsOf(bytes: Uint8Array, sheet: string | null = null) {
  const { rows } = await readWorkbook(bytes, sheet)
  return (await Array.fromAsync(rows)).flat() as FileRow[]
}

const XML = new TextEncoder()
export const PACKAGE = 'http://schemas.openxmlformats.org/package/2006'
export const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
export const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'

/** Returns a workbook with this XML as its sheet data, and with other parts. */
export function packed(sheetData: string, others: Zippable = {}): Uint8Array {
  const parts = {
    '[Content_Types].xml': `<Types xmlns="${PACKAGE}/content-types"/>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${PACKAGE}/relationships"><Relationship Id="rId1" Type="${OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
    'xl/workbook.xml': `<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets><sheet name="Plants" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    'xl/worksheets/sheet1.xml': `<worksheet xmlns="${MAIN}"><sheetData>${sheetData}</sheetData></worksheet>`,
  }
  const texts = Object.entries(parts).map(([name, text]) => [name, XML.encode(text)] as const)
  return zipSync({ ...Object.fromEntries(texts), ...others })
}

export const inlineText = (xml: string) => `<c t="inlineStr"><is><t>${xml}</t></is></c>`

/** Returns an OpenDocument spreadsheet with these tables and styles. */
export const openDocument = (tables: string, styles = '') =>
  zipSync({
    'META-INF/manifest.xml': strToU8('<manifest:manifest xmlns:manifest="m"/>'),
    'content.xml': strToU8(
      `<office:document-content xmlns:office="o" xmlns:table="t" xmlns:text="x" xmlns:style="s" xmlns:calcext="c"><office:automatic-styles>${styles}</office:automatic-styles><office:body><office:spreadsheet>${tables}</office:spreadsheet></office:body></office:document-content>`,
    ),
    'styles.xml': strToU8('<office:document-styles xmlns:office="o"/>'),
  })
