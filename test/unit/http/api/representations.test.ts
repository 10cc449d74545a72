import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { projectTexts } from '../../../../src/catalogue/wire/write/project.js'
import type { IsoDate } from '../../../../src/kernel/dates.js'
import type { Decimal } from '../../../../src/kernel/money.js'
import { type ProjectGraph, renditions } from '../../../../src/kernel/project.js'
import type { Element } from '../../../../src/kernel/xml/element.js'
import { parseElement, recordLimits } from '../../../../src/kernel/xml/reader.js'
import { wellsForTara } from '../../../support/values/wells-for-tara.js'

type Leaf = readonly [path: string, text: string]

function leavesOfXml(element: Element, path = ''): Leaf[] {
  const attributes = Object.entries(element.attributes).map(([name, text]): Leaf => [`${path}/${name}`, text])
  const children = element.children.flatMap((child) => leavesOfXml(child, `${path}/${child.name}`))
  return element.children.length > 0 ? [...attributes, ...children] : [...attributes, [path, element.text]]
}

function leavesOfJson(value: unknown, path = ''): Leaf[] {
  if (Array.isArray(value)) return value.flatMap((item) => leavesOfJson(item, path))
  if (typeof value !== 'object' || value === null) return [[path, String(value)]]
  const members = Object.entries(value)
  return members.length === 0
    ? [[path, '']]
    : members.flatMap(([name, member]) => leavesOfJson(member, `${path}/${name}`))
}

// JSON numbers have no trailing zeros once parsed; the text forms are compared by the golden files.
const comparable = (leaves: Leaf[]) =>
  leaves.map(([path, text]) => `${path}=${/^-?\d+\.\d+$/.test(text) ? Number(text) : text}`).sort()

const anyText = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) })
const someText = fc.oneof(
  anyText,
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('', ' ', '<b>&amp;</b>', ']]>', '"\\'),
)
const amount = fc
  .tuple(fc.bigInt({ min: 0n, max: 10n ** 14n }), fc.integer({ min: 0, max: 999 }))
  .map(([whole, part]) => `${whole}.${String(part).padStart(3, '0')}` as Decimal)
const degrees = fc.integer({ min: -89_999_999, max: 89_999_999 }).map((n) => (n / 1e6).toFixed(6) as Decimal)
const instant = fc.date({ min: new Date('1990-01-01'), max: new Date('2099-01-01'), noInvalidDate: true })
const theme = fc.record({ id: someText, name: someText, humanitarian: fc.boolean() })
const country = fc.record({ code: fc.constantFrom('SL', 'KE'), name: someText })

const project = fc.record(
  {
    ...Object.fromEntries(
      [
        ...['summary', 'need', 'longTermImpact', 'activities', 'notice', 'additionalDocumentation', 'contactName'],
        ...['contactTitle', 'contactAddress', 'contactAddress2', 'contactCity', 'contactUrl', 'themeName'],
        ...['countryName', 'regionName', 'imageLink', 'imageTitle', 'projectLink', 'progressReportLink'],
      ].map((name) => [name, someText]),
    ),
    id: fc.integer({ min: 1 }),
    active: fc.boolean(),
    status: fc.constantFrom('active' as const, 'funded' as const, 'retired' as const),
    paused: fc.boolean(),
    type: fc.constantFrom('project', 'fund'),
    title: someText,
    goal: amount,
    funding: amount,
    remaining: amount,
    numberOfDonations: fc.nat(),
    numberOfReports: fc.nat(),
    imageGallerySize: fc.nat(),
    latitude: degrees,
    longitude: degrees,
    approvedDate: instant,
    modifiedDate: instant,
    dateOfMostRecentReport: instant,
    locationPrecision: fc.constantFrom('point' as const, 'country' as const),
    firstSeenOn: fc.constant('2025-02-11' as IsoDate),
    source: fc.constant('local' as const),
  },
  {
    requiredKeys: [
      'id',
      'active',
      'status',
      'paused',
      'type',
      'title',
      'funding',
      'numberOfDonations',
      'locationPrecision',
      'firstSeenOn',
      'source',
    ],
  },
)

const graphs: fc.Arbitrary<ProjectGraph> = fc.record(
  {
    project,
    organisation: fc.record(
      {
        id: fc.integer({ min: 1 }),
        bridgeId: fc.bigInt({ min: 1n, max: 2n ** 63n - 1n }).map(String),
        name: someText,
        ein: someText,
        addressLine1: someText,
        mission: someText,
        totalProjects: fc.nat(),
        activeProjects: fc.nat(),
        themes: fc.array(theme, { maxLength: 2 }),
        countries: fc.array(country, { maxLength: 2 }),
      },
      { requiredKeys: ['id', 'name', 'totalProjects', 'activeProjects', 'themes', 'countries'] },
    ),
    countries: fc.array(country, { maxLength: 3 }),
    themes: fc.array(theme, { maxLength: 3 }),
    months: fc.constant([]),
    disbursements: fc.constant([]),
    payoutPlan: fc.constant([]),
    sdgs: fc.constant([]),
    photos: fc.array(
      fc.record({
        position: fc.nat(),
        wireId: fc.nat(),
        title: someText,
        renditions: fc.record({ small: someText, large: someText, original: someText }, { requiredKeys: [] }),
        consent: fc.boolean(),
      }),
      { maxLength: 2 },
    ),
    videos: fc.array(someText, { maxLength: 2 }),
    donationOptions: fc.array(fc.record({ amount, description: someText }), { maxLength: 3 }),
    reports: fc.constant([]),
    version: fc.nat(),
  },
  {
    requiredKeys: [
      ...(['project', 'countries', 'themes', 'months', 'disbursements', 'payoutPlan', 'sdgs'] as const),
      ...(['photos', 'videos', 'donationOptions', 'reports', 'version'] as const),
    ],
  },
)

const read = (graph: ProjectGraph) => {
  const { xml, json } = projectTexts(graph)
  return { element: parseElement(xml, recordLimits), value: JSON.parse(json) as Record<string, unknown> }
}

describe('the project record', () => {
  it('says the same in XML and JSON, whatever the project', () => {
    fc.assert(
      fc.property(graphs, (graph) => {
        const { element, value } = read(graph)
        const bridge = graph.organisation?.bridgeId
        // The one integer that a JavaScript number cannot always hold; its digits are compared as text.
        if (bridge !== undefined) expect(projectTexts(graph).json).toContain(`"bridgeId":${bridge},`)
        const without = (leaves: Leaf[]) => comparable(leaves.filter(([path]) => !path.endsWith('/bridgeId')))
        expect(without(leavesOfXml(element))).toEqual(without(leavesOfJson(value)))
      }),
      { numRuns: 300 },
    )
  })

  it('writes the children of every XML element in ASCII order of their names', () => {
    const check = (element: Element): void => {
      const names = element.children.map((child) => child.name)
      expect(names).toEqual([...names].sort())
      element.children.forEach(check)
    }
    fc.assert(
      fc.property(graphs, (graph) => check(read(graph).element)),
      { numRuns: 50 },
    )
  })

  it('never closes an element by itself', () => {
    fc.assert(
      fc.property(graphs, (graph) => !/<[a-zA-Z]+( [^<>]*)?\/>/.test(projectTexts(graph).xml)),
      { numRuns: 50 },
    )
  })

  const change = (changes: Partial<ProjectGraph['project']>) => ({
    ...wellsForTara,
    project: { ...wellsForTara.project, ...changes },
  })

  it.each([
    ['what the source says', { remaining: '10.5' as Decimal }, '<remaining>10.50</remaining>'],
    ['goal minus funding', { goal: '100' as Decimal, funding: '40.1' as Decimal }, '<remaining>59.90</remaining>'],
    ['zero when overfunded', { goal: '3046' as Decimal, funding: '3071' as Decimal }, '<remaining>0.00</remaining>'],
  ])('states as remaining %s', (_what, changes, expected) => {
    expect(projectTexts(change(changes)).xml).toContain(expected)
  })

  it('always has six image links in the order that clients index by, the nearest standing in for a missing one', () => {
    const photo = { position: 0, wireId: 0, consent: true, renditions: { thumbnail: 'https://t', large: 'https://l' } }
    const { value } = read({ ...wellsForTara, photos: [photo] })
    const { imagelink } = value.image as { imagelink: { url: string; size: string }[] }
    expect(imagelink.map(({ size }) => size)).toEqual([...renditions])
    expect(imagelink.map(({ url }) => url)).toEqual([...'ttllll'].map((name) => `https://${name}`))
  })

  it('falls back to the image link when the project has no picture at all', () => {
    const { value } = read({ ...wellsForTara, photos: [] })
    const { imagelink } = value.image as { imagelink: { url: string }[] }
    expect(new Set(imagelink.map(({ url }) => url))).toEqual(new Set([wellsForTara.project.imageLink]))
  })

  it('does not say where a project is whose location is withheld', () => {
    const place = { latitude: '7.95' as Decimal, longitude: '-11.74' as Decimal }
    expect(projectTexts(change(place)).json).toContain('"longitude":-11.74,"latitude":7.95')
    const withheld = projectTexts(change({ ...place, locationPrecision: 'country' }))
    expect(withheld.json + withheld.xml).not.toMatch(/latitude|longitude/)
  })
})
