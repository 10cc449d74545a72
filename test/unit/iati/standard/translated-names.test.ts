import { expect, it } from 'vitest'
import { codeList, codeName, translatedCodeName } from '../../../../src/iati/standard/index.js'

const germanLists = ['UNSDG-Goals', 'DocumentCategory', 'TransactionType', 'BudgetType', 'Region']

it.each([
  [
    'fr',
    ['Sector', ...germanLists],
    ['1', '15132', '15135', '15136', '15137', '16066', '25020', '32161', 'A04', 'A05'],
  ],
  ['de', germanLists, []],
] as const)('has a name in %s for each code of the lists that pages name', (language, lists, alike) => {
  const places = lists.flatMap((list) => [...codeList(list).codes.keys()].map((code) => [list, code] as const))
  expect(places.filter(([list, code]) => !translatedCodeName(language, list, code)?.trim())).toEqual([])
  // The same in both languages, all of them.
  const same = places.filter(([list, code]) => translatedCodeName(language, list, code) === codeName(list, code))
  expect(same.map(([, code]) => code).sort()).toEqual(alike)
})

it('has no name for what is on no list', () => {
  expect(translatedCodeName('fr', 'Sector', '14031')).toBe('Approvisionnement en eau potable – dispositifs de base')
  expect(translatedCodeName('fr', 'Sector', '1')).toBeUndefined()
  expect(translatedCodeName('fr', 'Country', 'FR')).toBeUndefined()
})
