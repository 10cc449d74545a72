import { expect, it } from 'vitest'
import { readCsvHeader } from '../../../../src/catalogue/import/csv-rows.js'

it.each([
  ['id', ',', ['id']],
  ['id,name', ',', ['id', 'name']],
  ['id;name', ';', ['id', 'name']],
  ['id\tname;given', '\t', ['id', 'name;given']],
  ['id;name;a,b', ';', ['id', 'name', 'a,b']],
  ['id,"a;b;c"', ',', ['id', 'a;b;c']],
])(
  'the sign of %j that stands most often separates cells, the comma where none does: %j',
  (line, delimiter, columns) => {
    const head = line === 'id\tname;given' ? Buffer.from(`${line}\tx\n`) : Buffer.from(`${line}\n`)
    expect(readCsvHeader(head)).toEqual({ delimiter, columns: line === 'id\tname;given' ? [...columns, 'x'] : columns })
  },
)
