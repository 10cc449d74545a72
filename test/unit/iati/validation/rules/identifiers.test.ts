import { describe, expect, it } from 'vitest'
import { foundBy, testRule } from '../../../../support/iati/rule-findings.js'

const own = (identifier: string) => `<iati-identifier>${identifier}</iati-identifier>`
const reporting = (ref: string) => `<reporting-org ref="${ref}"/>`
const other = (type: string, ref: string) => `<other-identifier type="${type}" ref="${ref}"/>`
const organisation = (identifier: string) =>
  `<iati-organisation><organisation-identifier>${identifier}</organisation-identifier></iati-organisation>`
const partner = (ref: string) => `<participating-org ref="${ref}"/>`

describe("the record's own identifier", () => {
  testRule('identifier-empty', [
    ['<title/>'],
    [own('7')],
    [own(' '), '/iati-identifier: expected an identifier in iati-identifier, got none'],
    [organisation(''), '/organisation-identifier: expected an identifier in organisation-identifier, got none'],
  ])
  testRule('identifier-of-organisation', [
    [own('A-1')],
    [reporting('A-1')],
    [`${own('A-1')}<reporting-org/>`],
    [own('A-1') + reporting('A-2')],
    [own(' ') + reporting(' ')],
    [
      own(' A-1') + reporting('A-1 '),
      '/iati-identifier: expected an identifier other than that of the reporting organisation, got "A-1 "',
    ],
  ])
  const begins = '/iati-identifier: expected an identifier that begins with "A-1-", got'
  testRule('identifier-prefix', [
    [own('B')],
    [reporting('A-1')],
    [`${own('B')}<reporting-org/>`],
    [own('A-1-7') + reporting('A-1')],
    [own('B-2-7') + reporting('A-1') + other('A1', 'B') + other('B1', 'B-1') + other('B1', 'B-2')],
    [own('A-17') + reporting('A-1'), `${begins} "A-17"`],
    [own('B-2-7') + reporting('A-1') + other('A1', 'B-2'), `${begins} "B-2-7"`],
    [own('B-27') + reporting('A-1') + other('B1', 'B-2'), `${begins} "B-27"`],
    [own('-7') + reporting('A-1') + other('B1', ''), `${begins} "-7"`],
    [`${own('undefined-7') + reporting('A-1')}<other-identifier type="B1"/>`, `${begins} "undefined-7"`],
  ])
})

/** Every attribute that holds an identifier, as path and element. */
const references = [
  ['reporting-org', 'ref'],
  ['participating-org', 'ref'],
  ['participating-org', 'activity-id'],
  ['owner-org', 'ref'],
  ['provider-org', 'ref'],
  ['provider-org', 'provider-activity-id'],
  ['receiver-org', 'ref'],
  ['receiver-org', 'receiver-activity-id'],
  ['recipient-org', 'ref'],
  ['related-activity', 'ref'],
  ['other-identifier', 'ref'],
] as const

describe('an identifier', () => {
  testRule('identifier-spaces', [
    ['<title/>'],
    [`${own('A 7') + partner('B 1')}<participating-org/>`],
    [own(' 7'), '/iati-identifier: expected no white space around " 7"'],
    [organisation('7 '), '/organisation-identifier: expected no white space around "7 "'],
    ...references.map(
      ([name, attribute]) =>
        [`<${name} ${attribute}="7 "/>`, `/${name}/@${attribute}: expected no white space around "7 "`] as const,
    ),
  ])
  testRule('reference-empty', [
    [`${own(' ') + partner('B')}<participating-org/>`],
    ...references.map(
      ([name, attribute]) =>
        [
          `<${name} ${attribute}=" "/>`,
          `/${name}/@${attribute}: expected an identifier or no ${attribute} at all, got ""`,
        ] as const,
    ),
  ])
  const none = 'expected none of / & | ? in'
  testRule('identifier-symbols', [
    [own('A-7_#!')],
    ...['A/7', 'A|7', 'A?7'].map((text) => [own(text), `/iati-identifier: ${none} "${text}"`] as const),
    [own('A&amp;7'), `/iati-identifier: ${none} "A&7"`],
    [organisation('A/7'), `/organisation-identifier: ${none} "A/7"`],
    ...references.map(([name, attribute]) => {
      const isFree = attribute !== 'ref' || name === 'other-identifier' || name === 'related-activity'
      return [`<${name} ${attribute}="A/7"/>`, ...(isFree ? [] : [`/${name}/@ref: ${none} "A/7"`])] as const
    }),
  ])

  it.each([
    [own('A/1'), []],
    [partner('A/1'), []],
    [own('A/1-7'), []],
    [own('A/1-7-8'), []],
    [own('B-2-7/8'), []],
    [own('A/17'), [`/iati-identifier: ${none} "A/17"`]],
    [own('-A/1'), [`/iati-identifier: ${none} "-A/1"`]],
    [partner('A/1-7'), [`/participating-org/@ref: ${none} "A/1-7"`]],
    [organisation('A/1-7'), [`/organisation-identifier: ${none} "A/1-7"`]],
  ])('may hold a slash where a registered publisher has it: %s', (xml, found) => {
    expect(foundBy('identifier-symbols', xml, { registeredOrganisations: new Set(['A/1', 'B-2', '']) })).toEqual(found)
  })
})

describe('the agency of an organisation', () => {
  const unknown = 'expected an identifier that begins with a known registration agency, got'
  testRule('reporting-org-prefix-unknown', [
    [''],
    ['<reporting-org/>'],
    [reporting(' ')],
    [reporting('GB-CHC-1')],
    [reporting('XM-DAC-4-7')],
    ...['GB-CHC', 'GB-CHC-', 'GB', '-GB-CHC-1', 'XX-NONE-1', '1'].map(
      (ref) => [reporting(ref), `/reporting-org/@ref: ${unknown} "${ref}"`] as const,
    ),
  ])
  testRule('organisation-prefix-unknown', [
    [`${reporting('NONE') + partner('NONE') + partner('GB-CHC-1')}<participating-org/>`],
    [reporting('GB-CHC-1') + reporting('NONE')],
    ...['participating-org', 'owner-org', 'provider-org', 'receiver-org', 'recipient-org'].map(
      (name) => [`<${name} ref="NONE"/>`, `/${name}/@ref: ${unknown} "NONE"`] as const,
    ),
    ['<related-activity ref="NONE"/>'],
  ])

  it.each([
    [{}, [`/participating-org/@ref: ${unknown} "NONE"`]],
    [{ reportingOrgRef: 'NONE' }, []],
    [{ registeredOrganisations: new Set(['NONE']) }, []],
    [{ registeredOrganisations: new Set(['SOME']) }, [`/participating-org/@ref: ${unknown} "NONE"`]],
  ])('is not looked for in the reference of our own or a registered organisation: %o', (context, found) => {
    expect(foundBy('organisation-prefix-unknown', partner('NONE'), context)).toEqual(found)
  })

  it.each([
    [reporting('A-1'), []],
    [reporting('A-2'), ['/reporting-org/@ref: expected "A-1", got "A-2"']],
    ['<reporting-org/>', ['/reporting-org/@ref: expected "A-1", got ""']],
  ])('is that of the publisher: %s', (xml, found) => {
    expect(foundBy('reporting-org-other', xml, { reportingOrgRef: 'A-1' })).toEqual(found)
    expect(foundBy('reporting-org-other', xml)).toEqual([])
  })
})
