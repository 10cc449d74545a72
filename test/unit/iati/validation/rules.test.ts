import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { validateActivity, validationNotices } from '../../../../src/iati/validation/index.js'
import { rules } from '../../../../src/iati/validation/rules/index.js'
import type { IsoDate } from '../../../../src/kernel/dates.js'
import { type Element, element, textElement } from '../../../../src/kernel/xml/element.js'
import {
  anActivity,
  anOrganisation,
  budget,
  inserted,
  replaced,
  withAttributes,
  withChildren,
  without,
} from '../../../support/iati/iati-records.js'
import { validateOrganisation } from '../../../support/iati/validate-organisation.js'

const context = { today: '2026-03-15' as IsoDate, reportingOrgRef: 'XM-DAC-47045' }

function codesOf(record: Element): string[] {
  const validate = record.name === 'iati-activity' ? validateActivity : validateOrganisation
  return validate(record, context).map(({ code, path }) => `${code} ${path}`)
}

const activity = anActivity()
const organisation = anOrganisation()
const attribute = (path: string, changes: Record<string, string | undefined>, of = activity) =>
  replaced(of, path, (found) => withAttributes(found, changes))
const text = (path: string, words: string, of = activity) => replaced(of, path, (found) => ({ ...found, text: words }))

function thirds(...shares: string[]): Element {
  const codes = ['14031', '11220', '12220']
  const sectors = shares.map((percentage, index) =>
    element('sector', { vocabulary: '1', code: codes[index] ?? '', percentage }),
  )
  return withChildren(activity, (children) => {
    const at = children.findIndex(({ name }) => name === 'sector')
    return [...children.slice(0, at), ...sectors, ...children.slice(at + 2)]
  })
}

describe('valid records', () => {
  it('give no notice', () => {
    expect(codesOf(activity)).toEqual([])
    expect(codesOf(organisation)).toEqual([])
  })

  it.each<[string, Element]>([
    [
      'regions of two vocabularies, each complete with the countries',
      withChildren(activity, (children) =>
        children.flatMap((child) =>
          child.name === 'recipient-country'
            ? child.attributes.code === 'KE'
              ? [withAttributes(child, { percentage: '60' })]
              : [
                  element('recipient-region', { code: '298', vocabulary: '1', percentage: '40' }),
                  element('recipient-region', { code: 'R', vocabulary: '99', percentage: '40' }),
                ]
            : child,
        ),
      ),
    ],
    ['thirds that make 100 after rounding to four decimals', thirds('33.33333', '33.33333', '33.33334')],
    [
      'sectors and recipients on every transaction',
      withChildren(without(without(activity, 'sector'), 'recipient-country'), (children) =>
        children.map((child) =>
          child.name === 'transaction'
            ? inserted(
                inserted(child, element('sector', { code: '14031' }), 'receiver-org'),
                element('recipient-country', { code: 'KE' }),
                'sector',
              )
            : child,
        ),
      ),
    ],
    ['each narrative with its own language', withAttributes(languages(activity), { 'xml:lang': undefined })],
    [
      'an original and a revised budget for one period',
      inserted(activity, withAttributes(budget('2026-01-01', '2026-12-31'), { type: '2' })),
    ],
    [
      'an earlier prefix that other-identifier names',
      inserted(text('iati-identifier', 'XM-DAC-1-7'), element('other-identifier', { ref: 'XM-DAC-1', type: 'B1' })),
    ],
    [
      'elements and attributes of a foreign namespace at the end',
      withChildren(withAttributes(activity, { 'own:id': '7' }), (children) => [
        ...children,
        element('own:extra', { any: 'thing' }, [textElement('sector', 'not ours')]),
      ]),
    ],
  ])('also with %s', (_what, record) => {
    expect(codesOf(record)).toEqual([])
  })
})

function languages(of: Element): Element {
  const children = of.children.map(languages)
  return of.name === 'narrative' ? withAttributes(of, { 'xml:lang': 'en' }) : { ...of, children }
}

describe('a notice', () => {
  it('says whom, where, what was expected and what came', () => {
    const record = { ...attribute('recipient-country', { code: 'XX' }), line: 12 }
    expect(validateActivity(record, context)).toEqual([
      {
        code: 'code-unknown',
        severity: 'error',
        subject: 'XM-DAC-47045-7',
        path: '/iati-activity/recipient-country[1]/@code',
        detail: 'expected a code of Country, got "XX"',
        line: 12,
      },
    ])
  })
})

it('a language that does not exist is an unknown code', () => {
  expect(codesOf(withAttributes(activity, { 'xml:lang': 'zz' }))).toEqual(['code-unknown /iati-activity/@xml:lang'])
})

describe('the catalogue', () => {
  it('has rules that are tested one by one, each with what it finds in records that differ in little', () => {
    const folder = path.join(import.meta.dirname, 'rules')
    const tests = readdirSync(folder).map((file) => readFileSync(path.join(folder, file), 'utf8'))
    expect(rules.filter(({ code }) => !tests.some((text) => text.includes(`'${code}'`)))).toEqual([])
  })

  it('has each code once and one sentence for it', () => {
    const codes = rules.map(({ code }) => code)
    expect(new Set(codes).size).toBe(codes.length)
    for (const [code, { sentence }] of Object.entries(validationNotices)) {
      expect(sentence, code).toMatch(/^[A-Z][^\n|]*\.$/)
      expect(code).toMatch(/^[a-z]+(-[a-z]+)*$/)
    }
  })
})
