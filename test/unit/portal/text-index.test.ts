import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  bitOf,
  type SearchedTexts,
  searchable,
  TextIndex,
  termsOf,
  testOf,
} from '../../../src/extensions/portal/text-index.js'

/** Each row at the place of its number unless an order is given. */
async function indexOf(rows: readonly Partial<SearchedTexts>[], order = [...rows.keys()]): Promise<TextIndex> {
  const batches = async function* () {
    for (const row of rows) yield [{ title: [], partner: [], place: [], text: [], ...row }]
  }
  return await TextIndex.of(batches(), Uint32Array.from(order), async () => {})
}

/** The rows that have the first term of a search, with the fields that have it. */
async function found(index: TextIndex, search: string): Promise<[row: number, bits: number][]> {
  const [term] = termsOf(search)
  const bits = new Uint8Array(5_000)
  if (term) await index.find(term, bits, async () => {})
  return [...bits.entries()].filter(([, one]) => one !== 0)
}

const [title, partner, place, text] = (['title', 'partner', 'place', 'text'] as const).map(bitOf) as [
  number,
  number,
  number,
  number,
]

it('finds rows by any part of a word of a name, and by the beginning of a word of a text', async () => {
  const index = await indexOf([
    { title: ['School for girls'], text: ['We start a school.', 'Girls come first.'] },
    { title: ['Water'], place: ['Preschool street'] },
    {},
    { title: ['a preschool beside a school'], partner: ['Schools & Co'] },
    { text: ['They restart the preschool'] },
  ])
  expect(await found(index, 'school')).toEqual([
    [0, title | text],
    [1, place],
    [3, title | partner],
  ])
  expect(await found(index, 'ater')).toEqual([[1, title]])
  expect(await found(index, 'start')).toEqual([[0, text]])
  expect(await found(index, 'forgirls')).toEqual([])
  expect(await found(index, 'nothing')).toEqual([])
})

it('finds rows by the places of an order', async () => {
  const rows = [{ title: ['Water for schools'] }, { text: ['water'] }, { title: ['Clean water'] }]
  const index = await indexOf(rows, [2, 0, 1])
  expect(await found(index, 'water')).toEqual([
    [0, title],
    [1, title],
    [2, text],
  ])
  expect(await found(index, '"clean water"')).toEqual([[0, title]])
})

it('finds phrases within one text, whole words in their order', async () => {
  const index = await indexOf([
    { title: ['Clean water'], text: ['Water is clean'] },
    { text: ['We clean', 'water here'] },
    { text: ['Unclean water', 'It is clean water and clean waters'] },
    { place: ['Clean water clean'] },
  ])
  expect(await found(index, '"clean water"')).toEqual([
    [0, title],
    [2, text],
    [3, place],
  ])
  expect(await found(index, '„Water clean“')).toEqual([[3, place]])
  expect(await found(index, '«clean water clean»')).toEqual([[3, place]])
  expect(await found(index, '"clean dirt"')).toEqual([])
  const unspaced = await indexOf([{ title: ['清洁饮用水'] }, { text: ['東京でカレーを作る'] }])
  expect([...(await found(unspaced, '"饮用水"')), ...(await found(unspaced, '「カレー」 "カレー"'))]).toEqual([
    [0, title],
    [1, text],
  ])
  const owners = await indexOf([
    { title: ['Women’s rights'], text: ['womens'] },
    { text: ['women s'] },
    { text: ['women'] },
  ])
  expect(await found(owners, 'womens')).toEqual([
    [0, title | text],
    [1, text],
  ])
  expect([...termsOf('womens'), ...termsOf('women')].map((term) => testOf(term)(searchable('Women’s')))).toEqual([
    true,
    true,
  ])
})

it('keeps many rows of many words apart, against a search of each text', async () => {
  let seed = 7
  const next = (below: number) => {
    seed = (seed * 48271) % 2147483647
    return seed % below
  }
  const word = () => `w${next(3) === 0 ? next(20) : next(3000)}`
  const texts = Array.from({ length: 3000 }, () => Array.from({ length: 1 + next(40) }, word).join(' '))
  const index = await indexOf(texts.map((one) => ({ text: [one] })))
  for (const search of ['w1', 'w12', 'w2999', '"w1 w2"', '"w3 w3"', '"w5 w7"']) {
    const [term] = termsOf(search)
    const expected = texts.flatMap((one, row) => {
      const has = term?.isPhrase ? testOf(term)(one) : ` ${one}`.includes(` ${search}`)
      return has ? [row] : []
    })
    expect([search, (await found(index, search)).map(([row]) => row)]).toEqual([search, expected])
    expect(expected.length).toBeGreaterThan(0)
  }
})

it('reads text without accents, the short way, as any other', () => {
  const unit = fc.oneof(
    fc.constantFrom(...'aZ09 -_.,\'"’“”«»–…‰'),
    fc.integer({ min: 0, max: 0x206f }).map(String.fromCharCode),
  )
  fc.assert(
    fc.property(fc.string({ unit }), (text) => {
      // An accent in it: it is read the other way.
      expect(`${searchable(text)} e`.trim()).toBe(searchable(`${text} é`))
    }),
    { numRuns: 2_000 },
  )
})

it('reads words and phrases whatever their accents, case, quotes and punctuation', () => {
  expect(searchable('  GROẞE Hilfe: l’eau d’Øst, Łódź & İstanbul! ')).toBe('grosse hilfe l eau d ost lodz istanbul')
  expect(searchable('مُحَمَّـد مدرسة أإآٱ')).toBe('محمد مدرسه اااا')
  expect(searchable('حفر الآبار، والمياه للأطفال بالمدرسة الله والدة')).toBe('حفر ابار مياه اطفال مدرسه الله والده')
  expect([searchable('مستشفى یزد کودک'), searchable('ΑΘΗΝΑΣ')]).toEqual(['مستشفي يزد كودك', searchable('Αθήνας')])
  expect(termsOf('a water "Clean, WATER" water supplies 水 “”')).toEqual([
    { words: ['clean', 'water'], isPhrase: true },
    { words: ['supplies'], isPhrase: false },
    { words: ['water'], isPhrase: false },
    { words: ['水'], isPhrase: false },
  ])
  expect(termsOf(Array.from({ length: 20 }, (_, at) => `word${at}`).join(' '))).toHaveLength(8)
})
