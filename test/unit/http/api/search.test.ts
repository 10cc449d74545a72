import { describe, expect, it } from 'vitest'
import { parseFilters } from '../../../../src/http/api/operations/search.js'

describe('filters of a search', () => {
  it.each([
    ['country:IN,theme=edu', ['country IN', 'theme edu']],
    [',country:KE', ['country KE']],
    ['theme:edu,', ['theme edu']],
    ['theme:edu,,theme:health', ['theme edu', 'theme health']],
    [' Theme : edu ', ['theme edu']],
    ['theme:covid-19', ['theme covid-19']],
    ['kenya', []],
    ['colour:red,country:', []],
    ['', []],
  ])('are read from %j', (text, filters) => {
    expect(parseFilters(text).map(({ name, value }) => `${name} ${value}`)).toEqual(filters)
  })
})
