import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { newIdentifier, toActivity } from '../../src/iati/mapping/activity.js'
import { validateActivity, validationNotices } from '../../src/iati/validation/index.js'
import type { IsoDate, IsoInstant } from '../../src/kernel/dates.js'
import type { Element } from '../../src/kernel/xml/element.js'
import { anActivity } from '../support/iati/iati-records.js'
import {
  aFullActivity,
  aFullOrganisation,
  blindSpotMutants,
  mutantsDay,
  ruleMutants,
} from '../support/iati/mutants/index.js'
import { officialJudge } from '../support/iati/official-ruleset.js'
import { mutated, mutations } from '../support/iati/schema-mutants.js'
import { validateOrganisation } from '../support/iati/validate-organisation.js'
import { officialStandard } from '../support/values/borrowed-files.js'
import { mappingConfig } from '../support/values/builders.js'
import { wellsForTara } from '../support/values/wells-for-tara.js'
import { record } from './support/record.js'
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
function damaged(whole: Element, choices: readonly number[]): Element {
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
  }, whole)
}

describe.skipIf(!official)('records with several things wrong', () => {
  const judge = official ? officialJudge(official, context.now) : () => new Set<string>()

  it('give every finding of the official ruleset, or are held for their structure anyway, and no error beyond it unexplained', () => {
    const counts = { alike: 0, structure: 0, beyond: new Map<string, number>() }
    fc.assert(
      fc.property(fc.nat(records.length - 1), fc.array(fc.nat(), { minLength: 1, maxLength: 5 }), (which, choices) => {
        const broken = damaged(records[which] ?? anActivity(), choices)
        const validate = broken.name === 'iati-activity' ? validateActivity : validateOrganisation
        const notices = validate(broken, { ...context, strict: false })
        const idsOf = (code: string) => validationNotices[code]?.official ?? []
        const known = new Set(notices.flatMap(({ code }) => idsOf(code)))
        // What is not of the schema is told as that, which holds the record.
        if (known.has('0.3.1') || known.has('9.1.1-9.132.1')) {
          counts.structure += 1
          return
        }
        const theirs = judge(broken)
        expect([...theirs].filter((id) => !known.has(id))).toEqual([])
        const beyond = new Set(
          notices
            .filter(({ code, severity }) => severity === 'error' && !idsOf(code).some((id) => theirs.has(id)))
            .map(({ code }) => code),
        )
        if (beyond.size === 0) counts.alike += 1
        for (const code of beyond) counts.beyond.set(code, (counts.beyond.get(code) ?? 0) + 1)
      }),
      { numRuns: scaled(10_000) },
    )
    const unexplained = [...counts.beyond.keys()].filter((code) => validationNotices[code]?.standard === undefined)
    expect(unexplained).toEqual([])
    const beyond = [...counts.beyond].sort(([a], [b]) => (a < b ? -1 : 1)).map(([code, times]) => `${code} ${times}`)
    record({
      name: 'damaged records judged by the official ruleset too',
      engine: '-',
      tried: scaled(10_000),
      outcome:
        `none missed; alike ${counts.alike}; held for structure or codes ${counts.structure}; ` +
        `errors beyond its paths: ${beyond.join(', ')}`,
    })
  }, 600_000)
})
