import { expect, it } from 'vitest'
import { textArray } from '../../../src/platform/database/text-array.js'
import { testDatabase } from '../../support/store/database.js'

const { store } = await testDatabase()

async function returned(texts: readonly (string | Buffer | null)[]): Promise<(string | undefined)[]> {
  const { rows } = await store.db.query<{ text: string | undefined }>(
    'select text from unnest($1::text[]) with ordinality as t (text, nth) order by nth',
    [textArray(texts)],
  )
  return rows.map(({ text }) => text)
}

it('arrives as the texts that it was made of, whatever is in them', async () => {
  const odd = [
    '',
    ' ',
    '{"a","b"}',
    "it's \\ \\n \n\r\t",
    'NULL',
    null,
    'Łódź 𝒳 水',
    '<a b="c">&amp;</a>',
    'x'.repeat(100_000),
  ]
  expect(await returned(odd)).toEqual(odd.map((text) => text ?? undefined))
})

it('takes buffers of UTF-8 beside texts', async () => {
  expect(await returned([Buffer.from('水'), 'water', null])).toEqual(['水', 'water', undefined])
})

it('may be empty', async () => {
  expect(await returned([])).toEqual([])
})
