import { describe, expect, it } from 'vitest'
import { themeDefault, themeDefaults } from '../../../src/domain/theme-sectors.js'
import { isActiveCode } from '../../../src/standard/index.js'

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
    expect(themeDefault('disaster')).toMatchObject({ sectorCode: '72010', humanitarian: true })
  })
})
