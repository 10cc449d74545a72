import { describe, expect, it } from 'vitest'
import { type Element, element, textElement } from '../../src/kernel/xml/element.js'
import type { Tree } from '../support/iati/generated-iati.js'
import { filesOfSeed, moveGenerated, named } from '../support/iati/moved-proof.js'
import { readOfficialRuleset, rulesOf } from '../support/iati/official-rules.js'
import { officialJudge } from '../support/iati/official-ruleset.js'
import { officialStandard } from '../support/values/borrowed-files.js'
import { record } from './support/record.js'
import { scaled } from './support/scale.js'

const official = officialStandard('the official ruleset over moved files')

/** A record without what is of other namespaces, for a judge who looks at none of it. */
function ofStandard({ name, attributes, children, text }: Tree): Element {
  const own = Object.entries(attributes).flatMap(([key, value]) => {
    const known = key.replace('{http://www.w3.org/XML/1998/namespace}', 'xml:')
    return known.startsWith('{') || known.startsWith('lost:') ? [] : [[known, value]]
  })
  const inside = children.filter((child) => !/^\{|^lost:/.test(child.name))
  if (inside.length === 0) return textElement(name, text, Object.fromEntries(own))
  return element(name, Object.fromEntries(own), inside.map(ofStandard))
}

describe('publishers who move here', () => {
  const judge = official
    ? officialJudge(official, new Date(Date.now() + 3_600_000).toISOString())
    : () => new Set<string>()
  const severities = official ? rulesOf(readOfficialRuleset(official)) : new Map<string, string>()
  const errorsIn = (records: readonly Tree[]) =>
    records.flatMap((one) => [...judge(ofStandard(one))].filter((id) => severities.get(id) === 'error'))

  it('have all of their files published whole, without an official error before or after', async () => {
    let records = 0
    for (let seed = 3; seed < 3 + scaled(200); seed++) {
      const files = filesOfSeed(seed)
      const before = Object.values(files).flatMap((file) => file.records.map((one) => named(one)))
      const { faults, published } = await moveGenerated(files)
      expect({ seed, faults, before: errorsIn(before), after: errorsIn(published) }).toEqual({
        ...{ seed, faults: [], before: [], after: [] },
      })
      records += before.length
    }
    record({
      name: 'generated files of others, moved in',
      engine: '-',
      tried: records,
      outcome: 'nothing lost or invented',
    })
  }, 3_600_000)
})
