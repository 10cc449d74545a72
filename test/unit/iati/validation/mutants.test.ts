import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { newIdentifier, toActivity } from '../../../../src/iati/mapping/activity.js'
import { validateActivity, validationNotices } from '../../../../src/iati/validation/index.js'
import type { IsoDate, IsoInstant } from '../../../../src/kernel/dates.js'
import type { Element } from '../../../../src/kernel/xml/element.js'
import { parseElement } from '../../../../src/kernel/xml/reader.js'
import { anActivity, anOrganisation } from '../../../support/iati/iati-records.js'
import {
  aFullActivity,
  aFullOrganisation,
  blindSpotMutants,
  type Mutant,
  mutantsDay,
  ruleMutants,
} from '../../../support/iati/mutants/index.js'
import { officialRuleIds } from '../../../support/iati/official-rules.js'
import { officialJudge } from '../../../support/iati/official-ruleset.js'
import { validateOrganisation } from '../../../support/iati/validate-organisation.js'
import { runsAll } from '../../../support/runner/some-of.js'
import { officialStandard } from '../../../support/values/borrowed-files.js'
import { aGraph, aMonth, aReport, mappingConfig } from '../../../support/values/builders.js'
import { wellsForTara } from '../../../support/values/wells-for-tara.js'

const context = { today: mutantsDay as IsoDate, now: `${mutantsDay}T12:00:00Z` as IsoInstant }
const official = officialStandard('breaking the official samples')

function mapped(graph: Parameters<typeof toActivity>[0]): Element {
  return toActivity(graph, mappingConfig, context.today, newIdentifier(mappingConfig, graph.project)).element
}

function sample(name: string): Element[] {
  if (!official) return []
  return [...parseElement(readFileSync(join(official, 'samples', name))).children]
}

const records: Record<string, readonly Element[]> = {
  'an activity of every element': [aFullActivity()],
  'a plain activity': [anActivity()],
  'a mapped project': [mapped(wellsForTara)],
  'a mapped project with months and reports': [
    mapped(
      aGraph({
        months: [aMonth('2026-01', '120.00'), aMonth('2026-02', '-10.00', { kind: 'refund' })],
        reports: [aReport(1, '2026-03-01')],
      }),
    ),
  ],
  'a bare mapped project': [mapped(aGraph())],
  'the sample activities': sample('activities.sample.xml'),
  'an organisation of every element': [aFullOrganisation()],
  'a plain organisation': [anOrganisation()],
  'the sample organisations': sample('organisations.sample.xml'),
}

const worseElsewhere = new Set(
  Object.entries(validationNotices).flatMap(([code, { severity, severityElsewhere }]) =>
    severity === 'info' && severityElsewhere !== undefined ? [code] : [],
  ),
)

function findings(record: Element): string[] {
  const validate = record.name === 'iati-activity' ? validateActivity : validateOrganisation
  return (
    validate(record, context)
      // What is only worth telling of our own files may be a fault of others.
      .filter(({ code, severity }) => severity !== 'info' || worseElsewhere.has(code))
      .map(({ code }) => code)
  )
}

const unbroken: Mutant = {
  breaks: '-',
  code: '-',
  what: 'nothing',
  make: (record) => ({ sound: record, broken: record }),
}
const mutants: readonly Mutant[] = [...ruleMutants, ...blindSpotMutants]

describe.each(Object.entries(records))('%s', (_what, of) => {
  it('is sound', () => {
    for (const record of of) expect(findings(record)).toEqual([])
  })

  it('is told from each of its mutants', () => {
    const wrong = of.flatMap((record) =>
      mutants.flatMap(({ breaks, code, what, make }) => {
        const made = make(record)
        if (!made) return []
        const [sound, broken] = [findings(made.sound), findings(made.broken)]
        const name = `${breaks} ${what}`
        return [
          ...(sound.length > 0 ? [`${name}: the sound one gives ${sound.join(', ')}`] : []),
          ...(broken.includes(code) ? [] : [`${name}: expected ${code}, got ${broken.join(', ') || 'nothing'}`]),
        ]
      }),
    )
    expect(wrong).toEqual([])
  })
})

describe.skipIf(!official || !runsAll)('the official ruleset, run over every record and mutant', () => {
  const judge = official ? officialJudge(official, context.now) : () => new Set<string>()

  it('finds nothing that our checks do not find, under the same id', () => {
    const missed: string[] = []
    const seen = new Set<string>()
    for (const record of Object.values(records).flat()) {
      for (const { breaks, what, make } of [...mutants, unbroken]) {
        const made = make(record)
        if (!made) continue
        for (const one of [made.sound, made.broken]) {
          const theirs = judge(one)
          const ours = new Set(findings(one).flatMap((code) => validationNotices[code]?.official ?? []))
          for (const id of theirs) {
            seen.add(id)
            if (!ours.has(id)) missed.push(`${breaks} ${what}: ${id}`)
          }
        }
      }
    }
    expect(missed).toEqual([])
    // The mutants are what the official rules are about: each rule has found one.
    expect(officialRuleIds.filter((id) => !seen.has(id))).toEqual([])
  })
})

it('every mutant is tried', () => {
  const all = Object.values(records).flat()
  expect(mutants.filter(({ make }) => !all.some(make)).map(({ breaks, what }) => `${breaks} ${what}`)).toEqual([])
})

it('every mutant of an official rule gives a code that names the rule', () => {
  const strangers = ruleMutants.filter(({ breaks, code }) => !validationNotices[code]?.official.includes(breaks))
  expect(strangers.map(({ breaks, code }) => `${breaks} ${code}`)).toEqual([])
})
