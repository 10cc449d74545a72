import { expect, it } from 'vitest'
import { codeList, codeName, frenchCodeName } from '../../../../src/iati/standard/index.js'

it('has a French name for each code of the lists that pages name', () => {
  const frenchLists = ['Sector', 'UNSDG-Goals', 'DocumentCategory', 'TransactionType', 'BudgetType', 'Region']
  for (const list of frenchLists) {
    const codes = [...codeList(list).codes.keys()]
    expect(
      codes.filter((code) => !frenchCodeName(list, code)?.trim()),
      list,
    ).toEqual([])
  }
  // The same in both languages, all of them.
  const same = frenchLists.flatMap((list) =>
    [...codeList(list).codes.keys()].filter((code) => frenchCodeName(list, code) === codeName(list, code)),
  )
  expect(same.sort()).toEqual(['1', '15132', '15135', '15136', '15137', '16066', '25020', '32161', 'A04', 'A05'])
  expect(frenchCodeName('Sector', '14031')).toBe('Approvisionnement en eau potable – dispositifs de base')
  expect(frenchCodeName('Sector', '1')).toBeUndefined()
  expect(frenchCodeName('Country', 'FR')).toBeUndefined()
})
