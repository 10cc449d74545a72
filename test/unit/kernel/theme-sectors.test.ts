import { describe, expect, it } from 'vitest'
import { isActiveCode } from '../../../src/iati/standard/index.js'
import { firstThemeName, knownThemeId, themeDefault, themeDefaults } from '../../../src/kernel/theme-sectors.js'

describe('the themes of the platform', () => {
  it('are the 28 of the platform, each with an active DAC sector of five digits', () => {
    expect(Object.keys(themeDefaults)).toHaveLength(28)
    const wrong = Object.entries(themeDefaults).filter(
      ([, { sectorCode }]) => !/^\d{5}$/.test(sectorCode) || !isActiveCode('Sector', sectorCode),
    )
    expect(wrong).toEqual([])
  })

  it('are not confused with what every object has', () => {
    expect(themeDefault('constructor')).toBeUndefined()
    expect(firstThemeName('constructor', 'Building')).toBe('Building')
    expect(themeDefault('disaster')).toMatchObject({ sectorCode: '72010', humanitarian: true })
  })

  it('are known by their names of today and of earlier years, in any letter case', () => {
    expect(knownThemeId('economic development')).toBe('ecdev')
    expect(knownThemeId('Economic Growth')).toBe('ecdev')
    expect(knownThemeId('Dancing')).toBeUndefined()
    expect(firstThemeName('ecdev', 'Economic Development')).toBe('Economic Growth')
    expect(firstThemeName('ecdev', 'Wirtschaft')).toBe('Wirtschaft')
  })

  it('of earlier years have a sector, by id or by name', () => {
    expect(isActiveCode('Sector', '24040')).toBe(true)
    expect(themeDefault('finance')).toMatchObject({ name: 'Microfinance', sectorCode: '24040' })
    expect(themeDefault('mf', 'Microfinance')).toMatchObject({ sectorCode: '24040' })
    expect(themeDefault('edu', 'Water')?.name).toBe('Education')
    expect(themeDefault('x', '')).toBeUndefined()
  })
})
