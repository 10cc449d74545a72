import { describe, expect, it } from 'vitest'
import { toActivity } from '../../../src/iati/mapping/activity.js'
import type { MappingConfig } from '../../../src/iati/mapping/mapping-config.js'
import type { Project, ProjectGraph } from '../../../src/kernel/project.js'
import { type Changes, mapped, today } from '../../support/iati/mapped.js'
import {
  aGraph,
  aMonth,
  amount,
  anOrganisation,
  disasterTheme,
  educationTheme,
  mappingConfig,
  waterTheme,
} from '../../support/values/builders.js'

describe('countries and places', () => {
  const two = (a?: string, b?: string) => [
    { code: 'SL', name: 'Sierra Leone', ...(a && { share: amount(a) }) },
    { code: 'LR', name: 'Liberia', ...(b && { share: amount(b) }) },
  ]

  it.each<[string, ReturnType<typeof two>, string[]]>([
    ['without shares have equal ones, by code', two(), ['LR 50.00', 'SL 50.00']],
    ['of which one has none have equal ones', two('90'), ['LR 50.00', 'SL 50.00']],
    ['have theirs', two('90', '10'), ['LR 10.00', 'SL 90.00']],
    ['have none that rounds to nothing', two('99.9999', '0.0001'), ['SL 100.00']],
  ])('%s', (_what, countries, expected) => {
    const texts = mapped({ countries }).all('recipient-country')
    expect(
      texts.map((text) => `${/code="([^"]+)"/.exec(text)?.[1]} ${/percentage="([^"]+)"/.exec(text)?.[1]}`),
    ).toEqual(expected)
  })

  it('that IATI does not know are left out, and none is the world', () => {
    const activity = mapped({ countries: [{ code: 'XX', name: 'Nowhere' }] })
    expect(activity.all('recipient-region')).toHaveLength(1)
    expect(activity.notices('country-unknown')).toEqual(['countries: expected an ISO 3166-1 code, got XX'])
    expect(activity.notices('recipient-unknown')).toEqual(['countries: expected at least one country, got none'])
  })

  it.each<[string, Partial<Project>, string]>([
    ['one named point', { locationName: 'Bo' }, '8'],
    ['a point without a name', {}, '4'],
    ['a name of a country', { locationName: 'Bo', locationPrecision: 'country' }, '4'],
  ])('have the scope of %s', (_what, project, code) => {
    expect(mapped({ project }).all('activity-scope')).toEqual([`<activity-scope code="${code}"/>`])
  })

  it.each<[string | undefined, string | undefined, string]>([
    ['7.9', undefined, '7.9, nothing'],
    [undefined, '-11.7', 'nothing, -11.7'],
    ['0.000', '-0', '0.000, -0'],
  ])('at %s, %s are not usable', (latitude, longitude, got) => {
    const project = {
      ...(latitude && { latitude: amount(latitude) }),
      ...(longitude && { longitude: amount(longitude) }),
    }
    const activity = mapped({ project })
    expect(activity.all('location')).toEqual([])
    expect(activity.notices('location-unusable')).toEqual([`latitude: expected latitude and longitude, got ${got}`])
  })

  it.each([
    ['0', '10.500000', '0 10.5'],
    ['-1.100000', '20.000000', '-1.1 20'],
    ['1.002003', '100', '1.002 100'],
  ])('at %s, %s are written with five decimals and without zeros at their end', (latitude, longitude, pos) => {
    const project = { latitude: amount(latitude), longitude: amount(longitude) }
    expect(mapped({ project }).all('location').join()).toContain(`<pos>${pos}</pos>`)
    expect(mapped({ project: { ...project, locationPrecision: 'country' } }).all('location')).toEqual([])
  })

  it('without coordinates are no place, and nothing to report', () => {
    expect(mapped({}).all('location')).toEqual([])
    expect(mapped({}).notices('location-unusable')).toEqual([])
  })
})

describe('sectors and tags', () => {
  it('of themes without a known purpose code are not specified, and name the themes', () => {
    const unknown = { ...waterTheme, sectorCode: '99999' }
    expect(mapped({ themes: [unknown, { ...educationTheme, sectorCode: '1' }] }).notices('sector-unknown')).toEqual([
      'themes: expected a theme with a DAC purpose code, got water, edu',
    ])
    expect(mapped({ themes: [] }).notices('sector-unknown')).toEqual([
      'themes: expected a theme with a DAC purpose code, got none',
    ])
  })

  it('of three themes share a hundred per cent, of one theme have no share', () => {
    const shares = (themes: ProjectGraph['themes']) =>
      mapped({ themes })
        .all('sector')
        .map((text) => /percentage="([^"]+)"/.exec(text)?.[1])
    expect(shares([waterTheme, educationTheme, disasterTheme])).toEqual([
      ...['33.34', '33.33', '33.33'],
      ...['33.34', '33.33', '33.33'],
    ])
    expect(shares([waterTheme])).toEqual([undefined, undefined])
    expect(shares([waterTheme, { ...educationTheme, sectorCode: waterTheme.sectorCode } as never])).toEqual([
      ...[undefined, '50.00', '50.00'],
    ])
  })

  it('are the goals in the order of the official list, a target in place of its goal', () => {
    const texts = mapped({ sdgs: ['13', '6.b', '6.10', '6.1', '6.2', '6', '6.a', '1', '99'] })
    expect(texts.all('tag').map((text) => /code="([^"]+)"/.exec(text)?.[1])).toEqual([
      ...['1', '6.1', '6.2', '6.a', '6.b', '13'],
    ])
    expect(texts.notices('sdg-unknown')).toEqual([
      'sdgs: expected a goal such as 6 or a target such as 6.1, got 6.10',
      'sdgs: expected a goal such as 6 or a target such as 6.1, got 99',
    ])
  })
})

describe('organisations', () => {
  const refOf = (changes: Partial<ReturnType<typeof anOrganisation>>) =>
    mapped({ organisation: anOrganisation(changes) })

  it.each<[string, Partial<ReturnType<typeof anOrganisation>>, string]>([
    ['its tax id', { ein: '98-7654321' }, 'ref="US-EIN-987654321"'],
    ['its tax id with blanks', { ein: '98 7654321' }, 'ref="US-EIN-987654321"'],
    ['no longer tax id', { ein: '9876543210' }, '<participating-org role="4" type="24">'],
    ['no tax id after letters', { ein: 'x987654321' }, '<participating-org role="4" type="24">'],
    ['an agency of two parts', { orgRef: 'GB-CHC-1234' }, 'ref="GB-CHC-1234"'],
    ['an agency and a number with a hyphen', { orgRef: 'GB-CHC-12-34' }, 'ref="GB-CHC-12-34"'],
    ['no address, no type', { countryCode: undefined } as never, '<participating-org role="4">'],
    ['a national organisation abroad', { countryCode: 'US' }, '<participating-org role="4" type="22">'],
    ['its own type', { orgType: '60' }, '<participating-org role="4" type="60">'],
  ])('are known by %s', (_what, changes, expected) => {
    expect(refOf(changes).all('participating-org').at(-1)).toContain(expected)
  })

  it('are partner-country organisations when one of the countries is theirs', () => {
    const countries = [
      { code: 'LR', name: 'Liberia' },
      { code: 'SL', name: 'Sierra Leone' },
    ]
    expect(mapped({ countries }).all('participating-org').at(-1)).toContain('type="24"')
  })

  it('have the type and the name that are assumed only where nothing says another', () => {
    const assumed = { ...mappingConfig.assumed, partnerType: '21', donors: 'All who give to {publisher}' }
    const reportingOrg = { ...mappingConfig.reportingOrg, name: 'Wells $& more' }
    const orgs = (changes: Changes) =>
      mapped(changes, undefined, { ...mappingConfig, assumed, reportingOrg })
        .all('participating-org')
        .map((text) => `${/type="(\d+)"/.exec(text)?.[1]} ${/<narrative>([^<]+)/.exec(text)?.[1]}`)
    const gift = { months: [aMonth('2026-08', '1.00')] }
    const partner = (changes: Parameters<typeof anOrganisation>[0]) =>
      orgs({ ...gift, organisation: anOrganisation(changes) }).at(-1)
    expect(orgs(gift)[0]).toBe('90 All who give to Wells $&amp; more')
    expect(partner({ countryCode: 'US' })).toBe('21 Tara Water Trust')
    expect(partner({ countryCode: 'SL' })).toBe('24 Tara Water Trust')
    expect(partner({ countryCode: 'US', orgType: '60' })).toBe('60 Tara Water Trust')
    expect(partner({ countryCode: undefined } as never)).toBe('undefined Tara Water Trust')
  })

  it('with an unusable identifier are named without it', () => {
    for (const orgRef of ['nonsense', 'ZZ-NONE-1', '-GB-CHC-1', 'US-EIN-123456789-5']) {
      expect(refOf({ orgRef }).notices('organisation-ref-unusable')).toEqual([
        `organization: expected AGENCY-NUMBER, got ${JSON.stringify(orgRef)}`,
      ])
    }
    expect(refOf({ ein: 'none' }).notices('organisation-ref-unusable')).toEqual([])
  })

  it('that fund are listed once each, by their number', () => {
    const funder = (id: number, name: string) => ({ id, name })
    const texts = mapped({
      months: [
        aMonth('2026-08', '1.00', { funder: funder(12, 'Twelve') }),
        aMonth('2026-09', '1.00', { funder: funder(7, 'Seven') }),
        aMonth('2026-10', '1.00', { funder: funder(12, 'Twelve') }),
      ],
    }).all('participating-org')
    expect(texts.map((text) => /<narrative>([^<]+)/.exec(text)?.[1])).toEqual([
      ...['Individual donors through Example Giving', 'Seven', 'Twelve', 'Example Giving', 'Tara Water Trust'],
    ])
  })

  it('that give twice with an unusable identifier are reported once', () => {
    const funder = { id: 7, name: 'Seven', orgRef: 'nonsense' }
    const activity = mapped({ months: [aMonth('2026-09', '1.00', { funder }), aMonth('2026-10', '1.00', { funder })] })
    expect(activity.notices('organisation-ref-unusable')).toHaveLength(1)
  })

  it('that implement nothing are reported', () => {
    const { organisation: _, ...bare } = aGraph()
    const notices = toActivity(bare, mappingConfig, today, 'x-2045').notices
    expect(notices.find(({ code }) => code === 'organisation-unknown')).toMatchObject({
      ...{ path: 'organization', detail: 'expected an organisation, got none', subject: 'x-2045' },
    })
  })
})

describe('other identifiers', () => {
  const refs = (identifier: string) =>
    toActivity(aGraph(), mappingConfig, today, identifier)
      .element.children.filter(({ name }) => name === 'other-identifier')
      .map((one) => `${one.attributes?.type} ${one.attributes?.ref}`)

  it.each([
    ['US-EIN-123456789-2045', ['A1 2045']],
    ['XM-OLD-1-2045', ['A1 2045', 'B1 XM-OLD-1']],
    ['XM-OLD-1-7', ['A1 2045']],
    ['-2045', ['A1 2045']],
  ])('of %s', (identifier, expected) => {
    expect(refs(identifier)).toEqual(expected)
  })
})

describe('descriptions and contacts', () => {
  it('leave out what is empty once its markup is gone', () => {
    const texts = mapped({ project: { need: '<p> </p>', longTermImpact: 'Water.' } }).all('description')
    expect(texts[1]).toBe('<description type="2"><narrative>Water.</narrative></description>')
    expect(mapped({ project: { need: '<p></p>' } }).all('description')).toHaveLength(1)
  })

  it('have the page of the project where it has one', () => {
    expect(mapped({}).all('contact-info').join()).not.toContain('website')
    const projectLink = 'https://giving.example/a b'
    expect(mapped({ project: { projectLink } }).all('contact-info').join()).toContain(
      '<website>https://giving.example/a%20b</website>',
    )
  })

  it('are those of the publisher where the record has none, and absent where nobody could be asked', () => {
    const contact = { email: 'data@giving.example', page: 'https://giving.example/contact' }
    const of = (project: Changes['project'], config: MappingConfig = { ...mappingConfig, contact }) =>
      mapped({ organisation: undefined, ...(project && { project }) } as Changes, today, config)
        .all('contact-info')
        .join()
    const start = '<contact-info type="1"><organisation><narrative>Example Giving</narrative></organisation>'
    const email = '<email>data@giving.example</email>'
    expect(of({})).toBe(`${start}${email}<website>${contact.page}</website></contact-info>`)
    const [projectLink, contactUrl] = ['https://giving.example/7', 'https://tara.example/']
    expect(of({ projectLink, contactUrl })).toBe(
      `${start}${email}<website>${projectLink}</website><website>${contactUrl}</website></contact-info>`,
    )
    expect(of({ contactUrl: 'mailto:tara@tara.example' })).not.toContain('tara')
    expect(of({ projectLink }, mappingConfig)).toBe(`${start}<website>${projectLink}</website></contact-info>`)
    expect(of({}, mappingConfig)).toBe('')
  })
})
