import { existsSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { pathsIn, pathsOfSchema } from '../../support/iati/generated-iati.js'
import { filesOfSeed, moveGenerated, moveReal } from '../../support/iati/moved-proof.js'
import { someOf } from '../../support/runner/some-of.js'
import { officialStandard } from '../../support/values/borrowed-files.js'

const seeds = [0, 1, 2]

describe('files with everything that the schema has', () => {
  it.each(someOf(seeds, 3))(
    'are published whole, nothing invented, the table of elements true: seed %i',
    async (seed) => {
      expect((await moveGenerated(filesOfSeed(seed))).faults).toEqual([])
    },
  )

  it('have every element and attribute', () => {
    const files = seeds.map(filesOfSeed)
    for (const [root, record] of [
      ['activities', 'iati-activity'],
      ['organisations', 'iati-organisation'],
    ] as const) {
      const written = files.map((one) => pathsIn(one[`${root}.xml`]?.records ?? [], `/iati-${root}`))
      const missing = [...pathsOfSchema(`/iati-${root}/${record}`)].filter((at) => !written.some((one) => one.has(at)))
      expect(missing).toEqual([])
    }
  })
})

const official = officialStandard('real files of publishers')
const real = official && path.join(official, 'real')

describe.skipIf(!real || !existsSync(real))('real files', () => {
  const cases: [string[], Record<string, number>][] = [
    [['caf-activities-60.xml', 'caf-organisation.xml'], { 'code-unknown': 1 }],
    [['wri-activity.xml'], {}],
    [['acf-spain-co.xml', 'acf-spain-ph.xml'], { 'sector-narrative-missing': 7 }],
    [['kbo-organisation.xml'], {}],
    [['world-bank-organisation.xml'], { 'code-unknown': 12 }],
  ]
  it.each(someOf(cases, 2))(
    '%j are published whole but for what breaks a rule of the standard: %j',
    async (files, broken) => {
      const { faults, errors, summary } = await moveReal(real ?? '', files)
      expect({ faults, errors }).toEqual({ faults: [], errors: broken })
      const told = summary.moved?.rules.map(({ code, count }) => [code, count]) ?? []
      expect(Object.fromEntries(told)).toEqual(broken)
    },
  )
})
