import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newIdentifier, toActivity } from '../../src/iati/mapping/activity.js'
import { validateActivity, validateOrganisation, validationNotices } from '../../src/iati/validation/index.js'
import type { IsoDate, IsoInstant } from '../../src/kernel/dates.js'
import type { Element } from '../../src/kernel/xml/element.js'
import { officialStandard } from '../support/borrowed-files.js'
import { mappingConfig } from '../support/builders.js'
import { anActivity } from '../support/iati-records.js'
import {
  aFullActivity,
  aFullOrganisation,
  blindSpotMutants,
  mutantsDay,
  ruleMutants,
} from '../support/mutants/index.js'
import { officialJudge } from '../support/official-ruleset.js'
import { mutated, mutations } from '../support/schema-mutants.js'
import { wellsForTara } from '../support/wells-for-tara.js'
import { scaled } from './support/scale.js'

const official = officialStandard('the campaign that compares our rules with the official ruleset')
const context = { today: mutantsDay as IsoDate, now: `${mutantsDay}T12:00:00Z` as IsoInstant }
const mapped = toActivity(
  wellsForTara,
  mappingConfig,
  context.today,
  newIdentifier(mappingConfig, wellsForTara.project),
).element
const records = [aFullActivity(), anActivity(), mapped, aFullOrganisation()]
const rules = [...ruleMutants, ...blindSpotMutants]
const changes = Object.values(mutations)

/** The record after a few changes, each a broken rule or an arbitrary damage. */
function damaged(record: Element, choices: readonly number[]): Element {
  return choices.reduce((broken, choice) => {
    const pick = (below: number): number => (below === 0 ? 0 : (choice >>> 4) % below)
    const change = choice % 4 === 0 ? changes[pick(changes.length)] : undefined
    if (change) return mutated(broken, change, pick)
    try {
      return rules[pick(rules.length)]?.make(broken)?.broken ?? broken
    } catch {
      // What the mutant would change is gone by now.
      return broken
    }
  }, record)
}

describe.skipIf(!official)('records with several things wrong', () => {
  const judge = official ? officialJudge(official, context.now) : () => new Set<string>()

  it('give every finding of the official ruleset, or are held for their structure anyway', () => {
    fc.assert(
      fc.property(fc.nat(records.length - 1), fc.array(fc.nat(), { minLength: 1, maxLength: 5 }), (which, choices) => {
        const broken = damaged(records[which] ?? anActivity(), choices)
        const validate = broken.name === 'iati-activity' ? validateActivity : validateOrganisation
        const notices = validate(broken, context)
        const known = new Set(notices.flatMap(({ code }) => validationNotices[code]?.official ?? []))
        // What is not of the schema is told as that, which holds the record.
        if (known.has('0.3.1') || known.has('9.1.1-9.132.1')) return
        expect([...judge(broken)].filter((id) => !known.has(id))).toEqual([])
      }),
      { numRuns: scaled(5000) },
    )
  }, 300_000)
})
