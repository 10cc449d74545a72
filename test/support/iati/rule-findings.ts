import { expect, it } from 'vitest'
import { findingsAbout } from '../../../src/iati/validation/findings.js'
import { rules } from '../../../src/iati/validation/rules/index.js'
import { type RecordContext, viewOf } from '../../../src/iati/validation/view.js'
import type { IsoDate } from '../../../src/kernel/dates.js'
import { parseElement } from '../../../src/kernel/xml/reader.js'

/** What one rule finds, as `path: detail`; a text that is not a whole record is the inside of an activity. */
export function foundBy(code: string, xml: string, context: Partial<RecordContext> = {}): string[] {
  const rule = rules.find((one) => one.code === code)
  if (!rule) throw new Error(`no rule has the code ${code}`)
  const isRecord = /^<iati-(activity|organisation)\b/.test(xml)
  const root = parseElement(isRecord ? xml : `<iati-activity>${xml}</iati-activity>`)
  const found: string[] = []
  const findings = findingsAbout(root, ({ path, detail }) =>
    found.push(`${path.slice(root.name.length + 1)}: ${detail}`),
  )
  rule.check(viewOf(root, { today: '2026-03-15' as IsoDate, ...context }), (...finding) =>
    findings.add(rule, ...finding),
  )
  return found
}

/** The records of a rule, each with all that the rule finds in it. */
export function testRule(code: string, records: readonly (readonly [xml: string, ...found: string[]])[]): void {
  it.each(records.map(([xml, ...found]) => ({ xml, found })))(`${code}: $xml`, ({ xml, found }) => {
    expect(foundBy(code, xml)).toEqual(found)
  })
}
