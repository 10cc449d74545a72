import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { csvRows, readCsvHeader } from '../../../../src/catalogue/import/csv-rows.js'
import { schemaOf, templateOf } from '../../../../src/catalogue/import/describe-kind.js'
import type { FileRecord } from '../../../../src/catalogue/import/file-record.js'
import { jsonLines } from '../../../../src/catalogue/import/json-lines.js'
import type { ImportSaving, Kind } from '../../../../src/catalogue/import/kind.js'
import { findKind, kinds } from '../../../../src/catalogue/import/kinds.js'
import { importerOfKind } from '../../../../src/catalogue/import/record-importer.js'
import { importDocument } from '../../../support/documents/import-document.js'
import { readProjectFile } from '../../../support/documents/markdown-table.js'
import { day, usd } from '../../../support/values/builders.js'

const saving: ImportSaving = {
  source: 'import',
  today: day('2026-11-21'),
  currency: usd,
  photoConsent: false,
  keepNewer: true,
  importId: 'test',
  reading: {},
}

async function* chunksOf(text: string, size = 7): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function all(records: AsyncIterable<FileRecord>): Promise<FileRecord[]> {
  const found: FileRecord[] = []
  for await (const record of records) found.push(record)
  return found
}

async function readCsv(kind: Kind, text: string): Promise<FileRecord[]> {
  return await all(csvRows(chunksOf(text), readCsvHeader(Buffer.from(text)), kind.fields))
}

const recordOf = (record: FileRecord | undefined) => (record && 'value' in record ? record.value : undefined)

describe.each(kinds.map((kind: Kind) => [kind.name, kind] as const))('%s', (_name, kind) => {
  it('has a template that it reads', async () => {
    const records = await readCsv(kind, templateOf(kind))
    expect(records).toHaveLength(2)
    for (const record of records) {
      const reading = importerOfKind(kind, 'csv').read(recordOf(record) ?? null, saving)
      expect('problems' in reading ? reading.problems : []).toEqual([])
    }
  })

  it('has a JSON Schema that accepts the template and refuses what the reader refuses', async () => {
    const ajv = new Ajv2020({ strict: false, formats: { date: true, 'date-time': true, uri: true } })
    const validate = ajv.compile(schemaOf(kind))
    expect(JSON.stringify(schemaOf(kind))).not.toMatch(/"examples":\[[^\]]*""/)
    const [first] = await readCsv(kind, templateOf(kind))
    const value = recordOf(first)
    expect(validate(value), JSON.stringify(validate.errors)).toBe(true)
    expect(validate({ ...(value as object), colour: 'red' })).toBe(false)
    const [required = ''] = Object.keys(kind.fields).filter((field) => kind.fields[field]?.required)
    expect(validate({ ...(value as object), [required]: undefined })).toBe(false)
  })

  it('says of each field what it means, with two examples', () => {
    for (const [name, { means, examples, api, iati }] of Object.entries(kind.fields)) {
      expect(means, name).toMatch(/^[A-Za-z"].*[.]$/s)
      expect(examples, name).toHaveLength(2)
      expect(
        [name, api, iati].every((text) => text !== ''),
        name,
      ).toBe(true)
    }
    for (const field of kind.key) expect(kind.fields).toHaveProperty(field)
  })
})

it('docs/reference/import.md is what the kinds declare', () => {
  expect(readProjectFile('docs/reference/import.md'), 'the kinds changed: run `npm run docs:import` and commit').toBe(
    importDocument(),
  )
})

describe('CSV', () => {
  const themes = findKind('themes') as Kind

  it.each([
    ['commas', 'id,name\n1,a;b\n'],
    ['semicolons, a byte order mark and CRLF', '\uFEFFid;name\r\n1;"a;b"\r\n'],
    ['tabs', 'id\tname\n1\ta;b\n'],
    ['columns in another order and letter case', 'Name;ID\n"a;b";1'],
  ])('with %s', async (_what, text) => {
    expect(await readCsv(themes, text)).toMatchObject([{ line: 2, value: { id: '1', name: 'a;b' } }])
  })

  it('counts lines where records begin', async () => {
    const records = await readCsv(themes, 'id,name\n1,"a\nb"\n\n\n2,c\n3,d,e\n')
    expect(records.map(({ line }) => line)).toEqual([2, 6, 7])
  })
})

describe('NDJSON', () => {
  it('is read line by line, whatever the chunks', async () => {
    const text = '{"id": "1", "x": 1.50}\r\n\n  \nnope\n{"id": "é"}'
    expect(await all(jsonLines(chunksOf(text, 1)))).toMatchObject([
      { line: 1, value: { id: '1', x: '1.50' } },
      { line: 4, problem: { field: 'record' } },
      { line: 5, value: { id: 'é' } },
    ])
  })

  it('skips a line beyond the limit without keeping it', async () => {
    const text = `{"id": "${'x'.repeat(5_000_000)}"}\n{"id": "2"}\n`
    expect(await all(jsonLines(chunksOf(text, 65_536)))).toMatchObject([
      { line: 1, problem: { got: 'a longer line' } },
      { line: 2, value: { id: '2' } },
    ])
  })
})
