import { crc32, deflateRawSync } from 'node:zlib'

/** A cell: a text or number as it is, a number with a style, a formula with what it was worth, or XML. */
export type Cell =
  | string
  | number
  | boolean
  | undefined
  | { readonly number: number; readonly style: number }
  | { readonly formula: string; readonly worth?: string | number }
  | { readonly xml: string }

export type SheetOf = {
  readonly name: string
  readonly rows: readonly (readonly Cell[])[]
  readonly merged?: readonly string[]
  readonly hiddenRows?: readonly number[]
  readonly state?: 'visible' | 'hidden' | 'veryHidden'
}

/** Numbers of styles of the workbooks below. */
export const styles = { general: 0, day: 1, moment: 2, euros: 3, code: 4, duration: 5 } as const

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const related = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'

const stylesPart = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<styleSheet xmlns="${main}"><numFmts count="4">
<numFmt numFmtId="164" formatCode="dd\\.mm\\.yyyy\\ hh:mm;@"/><numFmt numFmtId="165" formatCode="#,##0.00\\ [$\u20AC-407]"/>
<numFmt numFmtId="166" formatCode="#,##0.00 &quot;CHF&quot;"/><numFmt numFmtId="167" formatCode="[h]:mm"/></numFmts>
<cellStyleXfs count="1"><xf numFmtId="14"/></cellStyleXfs>
<cellXfs count="6"><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="166"/><xf numFmtId="167"/></cellXfs>
</styleSheet>`

/** The day as Excel counts it. */
export const serialOf = (day: string) => Date.parse(day.length > 10 ? `${day}Z` : day) / 86_400_000 + 25_569

/** The letters of a column, from 0. */
export function lettersOf(column: number): string {
  return (column >= 26 ? lettersOf(Math.floor(column / 26) - 1) : '') + String.fromCharCode(65 + (column % 26))
}

/** A workbook of Excel as ZIP and XML; `others` are more parts, or parts in the place of its own. */
export function workbookOf(
  sheets: readonly SheetOf[],
  {
    is1904 = false,
    others = {},
  }: { readonly is1904?: boolean; readonly others?: Readonly<Record<string, string>> } = {},
): Buffer {
  const texts = new Map<string, number>()
  const shared = (text: string) => {
    if (!texts.has(text)) texts.set(text, texts.size)
    return texts.get(text)
  }
  const cellOf = (cell: Cell, place: string): string => {
    if (cell === undefined) return ''
    if (typeof cell === 'string') return `<c r="${place}" t="s"><v>${shared(cell)}</v></c>`
    if (typeof cell === 'number') return `<c r="${place}"><v>${cell}</v></c>`
    if (typeof cell === 'boolean') return `<c r="${place}" t="b"><v>${cell ? 1 : 0}</v></c>`
    if ('xml' in cell) return cell.xml.replace('<c', `<c r="${place}"`)
    if ('number' in cell) return `<c r="${place}" s="${cell.style}"><v>${cell.number}</v></c>`
    const type = typeof cell.worth === 'string' ? ' t="str"' : ''
    const value = cell.worth === undefined ? '' : `<v>${escaped(String(cell.worth))}</v>`
    return `<c r="${place}"${type}><f>${escaped(cell.formula)}</f>${value}</c>`
  }
  const parts: Record<string, string> = {}
  for (const [index, { rows, merged = [], hiddenRows = [] }] of sheets.entries()) {
    const lines = rows.map((row, at) => {
      const hidden = hiddenRows.includes(at + 1) ? ' hidden="1"' : ''
      const cells = row.map((cell, column) => cellOf(cell, `${lettersOf(column)}${at + 1}`)).join('')
      return row.length === 0 ? '' : `<row r="${at + 1}"${hidden}>${cells}</row>`
    })
    const ranges = merged.map((ref) => `<mergeCell ref="${ref}"/>`).join('')
    parts[`xl/worksheets/sheet${index + 1}.xml`] =
      `<?xml version="1.0" encoding="UTF-8"?><worksheet xmlns="${main}"><sheetData>${lines.join('')}</sheetData>` +
      `${ranges === '' ? '' : `<mergeCells>${ranges}</mergeCells>`}</worksheet>`
  }
  const list = sheets.map(
    ({ name, state }, at) =>
      `<sheet name="${escaped(name)}" sheetId="${at + 1}"${state ? ` state="${state}"` : ''} r:id="rId${at + 1}"/>`,
  )
  const links = sheets.map(
    (_, at) => `<Relationship Id="rId${at + 1}" Type="${related}/worksheet" Target="worksheets/sheet${at + 1}.xml"/>`,
  )
  return zipOf(
    Object.fromEntries(
      Object.entries({
        '[Content_Types].xml': '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
        'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${related}"><workbookPr${is1904 ? ' date1904="1"' : ''}/><sheets>${list.join('')}</sheets></workbook>`,
        'xl/_rels/workbook.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${links.join('')}</Relationships>`,
        'xl/styles.xml': stylesPart,
        'xl/sharedStrings.xml': `<sst xmlns="${main}">${[...texts.keys()].map((text) => `<si><t xml:space="preserve">${escaped(text)}</t></si>`).join('')}</sst>`,
        ...parts,
        ...others,
      }).map(([name, text]) => [name, Buffer.from(text)]),
    ),
  )
}

/** A ZIP archive with these files. */
export function zipOf(given: Readonly<Record<string, Buffer>>): Buffer {
  const locals: Buffer[] = []
  const list: Buffer[] = []
  let offset = 0
  for (const [name, content] of Object.entries(given)) {
    const packed = deflateRawSync(content)
    const fields = Buffer.alloc(26)
    fields.writeUInt16LE(20, 0)
    fields.writeUInt16LE(8, 4)
    fields.writeUInt32LE(crc32(content), 10)
    fields.writeUInt32LE(packed.length, 14)
    fields.writeUInt32LE(content.length, 18)
    fields.writeUInt16LE(name.length, 22)
    const local = Buffer.concat([Buffer.from('PK\u0003\u0004'), fields, Buffer.from(name), packed])
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(offset, 10)
    list.push(Buffer.concat([Buffer.from('PK\u0001\u0002'), Buffer.from([20, 0]), fields, rest, Buffer.from(name)]))
    locals.push(local)
    offset += local.length
  }
  const central = Buffer.concat(list)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(list.length, 6)
  end.writeUInt32LE(central.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...locals, central, Buffer.from('PK\u0005\u0006'), end])
}
