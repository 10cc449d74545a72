import { describe, expect, it } from 'vitest'
import { createFileValidator } from '../../../../src/iati/validation/file-validator.js'
import { validateActivity } from '../../../../src/iati/validation/index.js'
import type { IsoDate } from '../../../../src/kernel/dates.js'
import type { Notice } from '../../../../src/kernel/notice.js'
import { type Element, element } from '../../../../src/kernel/xml/element.js'
import { exchanged, withOnly } from '../../../support/iati/iati-editing.js'
import { anActivity, aTransaction, withAttributes, withChildren } from '../../../support/iati/iati-records.js'
import { badCodes, codeRows, rowName, withCode, withPlace } from '../../../support/iati/mutants/codes.js'
import { aFullActivity, aFullOrganisation, mutantsDay } from '../../../support/iati/mutants/index.js'
import { validateOrganisation } from '../../../support/iati/validate-organisation.js'

const context = { today: mutantsDay as IsoDate }

/** Sector and recipient are on the transactions. */
const byTransaction = withOnly(
  anActivity(),
  ['sector', 'recipient-country', 'location', 'transaction'],
  [classified(aTransaction('one', { type: '1', day: '2026-01-31' }))],
)

function classified(transaction: Element): Element {
  return withChildren(transaction, (children) => [
    ...children,
    element('sector', { code: '14031', vocabulary: '1' }),
    element('recipient-country', { code: 'KE' }),
    element('aid-type', { code: 'C01', vocabulary: '1' }),
  ])
}

const withoutBudget = withAttributes(withOnly(anActivity(), ['budget'], []), { 'budget-not-provided': '1' })
// Copies: an element that stands at two places would be changed at both.
const copied = (of: Element): Element => ({ ...of, children: of.children.map(copied) })
const records = [aFullActivity(), byTransaction, withoutBudget, aFullOrganisation()].map(copied)

function findings(record: Element): Notice[] {
  const validate = record.name === 'iati-activity' ? validateActivity : validateOrganisation
  return validate(record, context).filter(({ severity }) => severity !== 'info')
}

const codesAt = (record: Element, path: string) =>
  findings(record)
    .filter((notice) => notice.path.replace(/\[\d+\]/g, '') === path)
    .map(({ code }) => code)

const inRecords = codeRows.filter(({ path }) => path.split('/').length > 2)

describe('every row of the code list mapping', () => {
  it('is one of the 124 official ones', () => {
    expect(codeRows).toHaveLength(124)
    expect(codeRows.filter((row) => !inRecords.includes(row)).map(rowName)).toEqual([
      '/iati-activities/@version (Version)',
      '*/@xml:lang (Language)',
      '/iati-organisations/@version (Version)',
    ])
  })

  it.each(inRecords.map((row) => [rowName(row), row] as const))('%s', (_name, row) => {
    // Sectors and recipients may stand at one level only, so that not every record can have every place.
    const made = records.map((record) => withPlace(record, row)).find((one) => one && findings(one.record).length === 0)
    if (!made) throw new Error('no sound record has this place')
    const { record, place } = made
    const path = `${row.path.replace(/^\/iati-(?:activities|organisations)/, '')}${row.attribute === null ? '' : `/@${row.attribute}`}`
    for (const { code, notice } of badCodes(row)) {
      expect(codesAt(withCode(record, place, row, code), path), `the code "${code}"`).toContain(notice)
    }
    if (row.condition) {
      // Where the condition does not hold, another list, or none, governs the code.
      const elsewhere = withAttributes(place, { [row.condition.attribute]: '99' })
      const unbound = withCode(exchanged(record, place, elsewhere), elsewhere, row, 'no-such-code')
      expect(codesAt(unbound, path)).toEqual([])
    }
  })

  it.each([
    ['iati-activities', '1.01'],
    ['iati-organisations', '1.05'],
  ])('the version of %s is the one that is checked', (name, other) => {
    const codes = (version: string) => {
      const notices: string[] = []
      const root = { name, attributes: { version, 'generated-datetime': '2026-01-01T00:00:00Z' } }
      createFileValidator(root, context, ({ code }) => notices.push(code))
      return notices
    }
    expect(codes('2.03')).toEqual([])
    expect(codes('9.99')).toEqual(['code-unknown', 'version-other'])
    expect(codes(other)).toEqual(['version-other'])
    expect(codes('2.02')).toEqual(['version-earlier'])
  })
})
