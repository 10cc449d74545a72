import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { validateActivity, type XsdValidator } from '../../../src/iati/validation/index.js'
import type { RecordKind } from '../../../src/iati/validation/record.js'
import { structureNotices } from '../../../src/iati/validation/structure.js'
import type { IsoDate } from '../../../src/kernel/dates.js'
import type { Element } from '../../../src/kernel/xml/element.js'
import { writeElement } from '../../../src/kernel/xml/writer.js'
import { isLibxmlBlind, mutated, mutations, records } from './schema-mutants.js'
import { validateOrganisation } from './validate-organisation.js'

const context = { today: '2030-01-01' as IsoDate }
// The schema knows no code lists and no rules.
export const schemaCodes = new Set(Object.keys(structureNotices).filter((code) => !code.startsWith('code-')))

/** What our structure checks say of a record; code lists and rules aside. */
function ourVerdict(kind: RecordKind, record: Element): string[] {
  const notices = (kind === 'activity' ? validateActivity : validateOrganisation)(record, context)
  return notices.filter(({ code }) => schemaCodes.has(code)).map(({ path, detail }) => `${path}: ${detail}`)
}

/** What the official schema says of a record. */
export function officialVerdict(xsd: XsdValidator, kind: RecordKind, record: Element): string[] {
  const namespaces = { 'xmlns:own': 'https://own.example/' }
  return xsd
    .validate([writeElement(record)], kind, namespaces)
    .flat()
    .map(({ path, detail }) => `${path}: ${detail}`)
}

/** Tests that our structure checks and the official schema agree about random records, sound ones and mutants. */
export function testSchemaAgreement(
  xsd: XsdValidator | undefined,
  runs: { readonly sound: number; readonly perMutation: number },
): void {
  const official = (kind: RecordKind, record: Element) => (xsd ? officialVerdict(xsd, kind, record) : [])
  describe.skipIf(!xsd).each(['activity', 'organisation'] as const)(
    'our checks and the official schema agree on an %s',
    (kind) => {
      it('that the extracted structure allows: it is valid', () => {
        fc.assert(
          fc.property(records(kind), (record) => {
            expect(ourVerdict(kind, record)).toEqual([])
            expect(official(kind, record)).toEqual([])
          }),
          { numRuns: runs.sound },
        )
      })

      it.each(Object.entries(mutations))('that %s', (_what, mutate) => {
        fc.assert(
          fc.property(records(kind), fc.infiniteStream(fc.nat()), (record, numbers) => {
            const pick = (below: number): number => (below === 0 ? 0 : Number(numbers.next().value) % below)
            const mutant = mutated(record, mutate, pick)
            const [ours, theirs] = [ourVerdict(kind, mutant), official(kind, mutant)]
            const said = `ours: ${ours.join('; ')}\nofficial: ${theirs.join('; ')}`
            if (theirs.length > 0) expect(ours.length, said).toBeGreaterThan(0)
            else
              expect(
                ours.filter((one) => !isLibxmlBlind(one)),
                said,
              ).toEqual([])
          }),
          { numRuns: runs.perMutation },
        )
      })
    },
  )
}
