import { describe, expect, it } from 'vitest'
import { newIdentifier, toActivity } from '../../../src/iati/mapping/activity.js'
import { validateActivity } from '../../../src/iati/validation/index.js'
import { writeElement } from '../../../src/kernel/xml/writer.js'
import {
  aGraph,
  aMonth,
  amount,
  anOrganisation,
  aReport,
  day,
  disasterTheme,
  educationTheme,
  mappingConfig,
  usd,
  waterTheme,
} from '../../support/builders.js'
import { pretty } from '../../support/pretty-xml.js'

const today = day('2026-11-21')

function mapped(graph: Parameters<typeof toActivity>[0], on = today, config = mappingConfig) {
  return toActivity(graph, config, on, newIdentifier(mappingConfig, graph.project))
}

/** The children of the activity with this name, as text. */
function lines(graph: Parameters<typeof toActivity>[0], name: string, on = today): string[] {
  return mapped(graph, on)
    .element.children.filter((child) => child.name === name)
    .map((child) => writeElement(child))
}

const checks = { today, reportingOrgRef: mappingConfig.reportingOrg.ref }

function codes(graph: Parameters<typeof toActivity>[0], on = today): string[] {
  return mapped(graph, on).notices.map((notice) => notice.code)
}

describe('an activity', () => {
  it('that uses every element we emit', async () => {
    const activity = mapped(
      aGraph({
        organisation: anOrganisation({ orgRef: 'GB-CHC-1234567', orgType: '22' }),
        project: {
          status: 'retired',
          active: false,
          need: '<p>The only stream &amp; well dry up.</p><p>From January to May.</p>',
          longTermImpact: 'Clean water for 900 people.',
          activities: 'Drill four wells.',
          goal: amount('9500'),
          originalGoal: amount('8000'),
          glideNumber: 'DR-2025-000012-SLE',
          locationName: 'Bo',
          latitude: amount('7.964720'),
          longitude: amount('-11.738300'),
          projectLink: 'https://giving.example/projects/wells-for-tara/',
          contactUrl: 'https://tarawater.example',
          progressReportLink: 'https://giving.example/projects/wells-for-tara/updates/',
          additionalDocumentation: 'https://giving.example/files/2045/the plan.pdf',
          numberOfReports: 2,
          deadline: day('2026-06-30'),
          modifiedDate: new Date('2026-05-20T08:00:00Z'),
        },
        countries: [
          { code: 'SL', name: 'Sierra Leone' },
          { code: 'LR', name: 'Liberia' },
          { code: 'GN', name: 'Guinea' },
        ],
        themes: [waterTheme, disasterTheme],
        months: [
          aMonth('2025-03', '500.00'),
          aMonth('2025-03', '-20.00', { kind: 'refund', count: 1 }),
          aMonth('2025-04', '1000.00', {
            funder: { id: 7, name: 'Blue Foundation', orgRef: 'US-EIN-987654321', orgType: '60' },
          }),
          aMonth('2025-04', '75.00', { kind: 'fee' }),
          aMonth('2025-02', '40.50', { kind: 'opening', source: 'import', lastOn: day('2025-02-11'), count: 2 }),
        ],
        disbursements: [{ reference: 'P-1', disbursedOn: day('2025-06-02'), amount: amount('900.00'), currency: usd }],
        payoutPlan: [
          { reference: 'P-1', plannedOn: day('2025-06-01'), amount: amount('900.00'), currency: usd },
          { reference: 'P-2', plannedOn: day('2026-12-15'), amount: amount('550.00'), currency: usd },
        ],
        sdgs: ['6', '6.1', '13'],
        photos: [
          {
            position: 0,
            wireId: 0,
            title: 'The first well',
            renditions: { large: 'https://giving.example/img/2045/large.jpg' },
            consent: true,
            takenOn: day('2025-05-05'),
          },
          { position: 1, wireId: 1, renditions: { large: 'https://giving.example/img/2045/2.jpg' }, consent: false },
        ],
        reports: [aReport(9002, '2026-05-20'), aReport(9001, '2025-08-01')],
      }),
      today,
      { ...mappingConfig, contact: { email: 'data@giving.example' } },
    )
    await expect(pretty(writeElement(activity.element))).toMatchFileSnapshot('full-activity.xml')
    expect(activity.notices).toEqual([])
    expect(activity.validUntil).toBe('2026-12-15')
    expect(validateActivity(activity.element, checks).map((finding) => finding.code)).toEqual(['end-date-missing'])
  })

  it('of a project that has only a title', async () => {
    const graph = aGraph({
      countries: [],
      themes: [],
      project: { summary: undefined, approvedDate: undefined } as never,
    })
    const { organisation: _, ...bare } = graph
    const activity = mapped(bare)
    await expect(pretty(writeElement(activity.element))).toMatchFileSnapshot('bare-activity.xml')
    expect(activity.notices.map((notice) => notice.code).sort()).toEqual([
      'organisation-unknown',
      'recipient-unknown',
      'sector-unknown',
      'start-date-derived',
    ])
  })
})

describe('an opening total', () => {
  const opening = (source: 'import' | 'local', modifiedDate?: Date) =>
    lines(
      aGraph({
        project: { modifiedDate },
        months: [aMonth('2012-05', '90.00', { kind: 'opening', source, lastOn: day('2012-05-06') })],
      }),
      'transaction',
    ).join()

  it.each([
    ['a record that names its last change', 'import', new Date('2012-05-06T08:00:00Z')],
    ['the platform itself', 'local', undefined],
  ] as const)('of %s is cumulative until its day', (_what, source, modifiedDate) => {
    expect(opening(source, modifiedDate)).toContain('Donations received until 2012-05-06, cumulative (3 donations)')
  })

  it('of a record without a day says that its day is the newest one known', () => {
    expect(opening('import')).toContain(
      'Donations received, cumulative (3 donations); the source names no day, 2012-05-06 is the newest one known',
    )
  })
})

describe('status and dates', () => {
  const statusOf = (project: Parameters<typeof aGraph>[0]) => lines(aGraph(project), 'activity-status')

  it('follow one table', () => {
    expect(statusOf({ project: { status: 'active' } })).toEqual(['<activity-status code="2"/>'])
    expect(statusOf({ project: { status: 'funded', active: false } })).toEqual(['<activity-status code="3"/>'])
    expect(statusOf({ project: { status: 'retired', active: false } })).toEqual(['<activity-status code="4"/>'])
    const nothing = { status: 'retired', numberOfDonations: 0 } as const
    expect(statusOf({ project: nothing })).toEqual(['<activity-status code="5"/>'])
    expect(statusOf({ project: nothing, reports: [aReport(1, '2025-03-03')] })).toEqual(['<activity-status code="4"/>'])
    expect(statusOf({ project: { paused: true } })).toEqual(['<activity-status code="6"/>'])
    expect(statusOf({ project: { status: 'active', active: false } })).toEqual(['<activity-status code="6"/>'])
  })

  it('leave out a deadline before the start', () => {
    const graph = aGraph({ project: { deadline: day('2020-01-01') } })
    expect(lines(graph, 'activity-date')).toHaveLength(1)
    expect(codes(graph)).toContain('deadline-unusable')
  })

  it('start a paid-out project at its first payout', () => {
    const graph = aGraph({
      disbursements: [{ reference: 'a', disbursedOn: day('2025-09-09'), amount: amount('5'), currency: usd }],
    })
    expect(lines(graph, 'activity-date')[1]).toBe('<activity-date type="2" iso-date="2025-09-09"/>')
  })
})

describe('shares', () => {
  it('of three countries without a split are equal and sum to exactly 100', () => {
    const countries = ['SL', 'GN', 'LR'].map((code) => ({ code, name: code }))
    expect(lines(aGraph({ countries }), 'recipient-country')).toEqual([
      '<recipient-country code="GN" percentage="33.34"/>',
      '<recipient-country code="LR" percentage="33.33"/>',
      '<recipient-country code="SL" percentage="33.33"/>',
    ])
  })

  it('that are given are scaled to exactly 100', () => {
    const countries = [
      { code: 'SL', name: 'Sierra Leone', share: amount('30') },
      { code: 'GN', name: 'Guinea', share: amount('30') },
    ]
    expect(lines(aGraph({ countries }), 'recipient-country')).toEqual([
      '<recipient-country code="GN" percentage="50.00"/>',
      '<recipient-country code="SL" percentage="50.00"/>',
    ])
  })

  it('leave out a code that IATI does not know, and say so', () => {
    const graph = aGraph({
      countries: [
        { code: 'SL', name: 'Sierra Leone' },
        { code: 'ZZ', name: 'Nowhere' },
      ],
    })
    expect(lines(graph, 'recipient-country')).toEqual(['<recipient-country code="SL"/>'])
    expect(codes(graph)).toContain('country-unknown')
  })

  it('of sectors sum to 100 in each vocabulary', () => {
    const graph = aGraph({ themes: [waterTheme, educationTheme, disasterTheme] })
    const shares = lines(graph, 'sector').map((line) => /percentage="([^"]*)"/.exec(line)?.[1])
    expect(shares).toEqual(['33.34', '33.33', '33.33', '33.34', '33.33', '33.33'])
  })
})

describe('location', () => {
  it('is left out when only the country may be known', () => {
    const project = { latitude: amount('7.9'), longitude: amount('-11.7'), locationPrecision: 'country' as const }
    expect(lines(aGraph({ project }), 'location')).toEqual([])
  })

  it('is left out at 0,0', () => {
    const graph = aGraph({ project: { latitude: amount('0.000000'), longitude: amount('0') } })
    expect(lines(graph, 'location')).toEqual([])
    expect(codes(graph)).toContain('location-unusable')
  })
})

describe('budget', () => {
  it('of an open-ended project is the goal in the running 12 months, and rolls over with them', () => {
    const activity = aGraph({ project: { goal: amount('8000') } })
    expect(lines(activity, 'budget')).toEqual([
      '<budget type="1" status="1"><period-start iso-date="2026-02-11"/><period-end iso-date="2027-02-10"/>' +
        '<value currency="USD" value-date="2026-02-11">8000.00</value></budget>',
    ])
    expect(mapped(activity).validUntil).toBe('2027-02-11')
  })

  it('with a deadline is split by days and sums to the goal', () => {
    const graph = aGraph({ project: { goal: amount('1000'), deadline: day('2027-08-10') } })
    const values = lines(graph, 'budget').map((line) => Number(/>([\d.]+)<\/value>/.exec(line)?.[1]))
    expect(values).toHaveLength(3)
    expect(values.reduce((a, b) => a + b * 100, 0)).toBe(100_000)
  })
})

describe('transactions', () => {
  it('date the running month by its last gift and become stale at its end', () => {
    const graph = aGraph({ months: [aMonth('2026-11', '10.00', { lastOn: day('2026-11-19') })] })
    expect(lines(graph, 'transaction')[0]).toContain('<transaction-date iso-date="2026-11-19"/>')
    expect(mapped(graph).validUntil).toBe('2026-11-30')
    expect(lines(graph, 'transaction', day('2026-11-30'))[0]).toContain('<transaction-date iso-date="2026-11-30"/>')
  })

  it('merge the sources of a month and keep refunds apart', () => {
    const graph = aGraph({
      months: [
        aMonth('2026-09', '10.00'),
        aMonth('2026-09', '5.00', { source: 'upstream' }),
        aMonth('2026-09', '-2.00', { kind: 'refund' }),
      ],
    })
    const refs = lines(graph, 'transaction').map((line) => /ref="([^"]*)"/.exec(line)?.[1])
    expect(refs).toEqual(['don-2045-2026-09-USD', 'ref-2045-2026-09-USD'])
    expect(lines(graph, 'transaction')[0]).toContain('>15.00</value>')
  })

  it('wait for the day of money that is dated in the future', () => {
    const graph = aGraph({
      disbursements: [{ reference: 'later', disbursedOn: day('2026-12-24'), amount: amount('5'), currency: usd }],
    })
    expect(lines(graph, 'transaction')).toEqual([])
    expect(codes(graph)).toContain('money-in-future')
    expect(mapped(graph).validUntil).toBe('2026-12-24')
  })

  it('use the minor units of their currency', () => {
    const graph = aGraph({ months: [aMonth('2026-09', '1500.000', { currency: 'JPY' as typeof usd })] })
    expect(lines(graph, 'transaction')[0]).toContain('>1500</value>')
  })

  it('never name a donor', () => {
    const graph = aGraph({ months: [aMonth('2026-09', '10.00', { count: 1 })] })
    expect(lines(graph, 'transaction')[0]).toContain('Individual donors through Example Giving')
  })
})

describe('document links', () => {
  it('leave out addresses that are not absolute, and say so', () => {
    const graph = aGraph({ project: { projectLink: '/projects/wells' } })
    expect(lines(graph, 'document-link')).toEqual([])
    expect(codes(graph)).toContain('link-unusable')
  })

  it('cap reports at the newest 20 and always link the feed', () => {
    const reports = Array.from({ length: 30 }, (_, index) => aReport(30 - index, '2026-01-01'))
    const links = lines(aGraph({ reports }), 'document-link')
    expect(links).toHaveLength(21)
    expect(links[0]).toContain('https://giving.example/feeds/projects/2045/reports.atom')
  })
})

describe('organisation references', () => {
  it('turn a US tax id into one form', () => {
    const graph = aGraph({ organisation: anOrganisation({ ein: '12-3456789' }) })
    expect(lines(graph, 'participating-org').at(-1)).toContain('ref="US-EIN-123456789"')
  })

  it('never invent a prefix', () => {
    const graph = aGraph({ organisation: anOrganisation({ orgRef: 'XX-MADEUP-77' }) })
    expect(lines(graph, 'participating-org').at(-1)).not.toContain('ref=')
    expect(codes(graph)).toContain('organisation-ref-unusable')
  })
})

describe('the life cycle', () => {
  it('has a pipeline for what is approved for later, until its day', () => {
    const graph = aGraph({ project: { approvedDate: new Date('2026-12-01T09:00:00Z') } })
    expect(lines(graph, 'activity-status')).toEqual(['<activity-status code="1"/>'])
    expect(mapped(graph).validUntil).toBe('2026-12-01')
    expect(lines(graph, 'activity-status', day('2026-12-01'))).toEqual(['<activity-status code="2"/>'])
  })
})

describe('identifiers', () => {
  it('name the earlier publisher when an activity was first published under it', () => {
    const { element } = toActivity(aGraph(), mappingConfig, today, 'GB-CHC-1234567-2045')
    const others = element.children
      .filter(({ name }) => name === 'other-identifier')
      .map((child) => writeElement(child))
    expect(others).toEqual([
      '<other-identifier ref="2045" type="A1"/>',
      '<other-identifier ref="GB-CHC-1234567" type="B1"/>',
    ])
    expect(validateActivity(element, checks).map(({ code }) => code)).toEqual([])
  })
})

describe('scope and place', () => {
  const somewhere = { latitude: amount('7.9'), longitude: amount('-11.7'), locationName: 'Bo' }

  it('are one place when it is named, and the country when it must not be known', () => {
    const graph = aGraph({ project: somewhere })
    expect(lines(graph, 'activity-scope')).toEqual(['<activity-scope code="8"/>'])
    expect(lines(graph, 'location')).toEqual([
      '<location><location-reach code="1"/><name><narrative>Bo</narrative></name>' +
        '<point srsName="http://www.opengis.net/def/crs/EPSG/0/4326"><pos>7.9 -11.7</pos></point>' +
        '<exactness code="2"/><location-class code="2"/></location>',
    ])
    const hidden = aGraph({ project: { ...somewhere, locationPrecision: 'country' } })
    expect(lines(hidden, 'activity-scope')).toEqual(['<activity-scope code="4"/>'])
    expect(lines(hidden, 'location')).toEqual([])
  })
})

describe('Sustainable Development Goals', () => {
  it('are tags; a target makes its goal superfluous', () => {
    expect(lines(aGraph({ sdgs: ['13', '6', '6.1', '6.b'] }), 'tag')).toEqual([
      '<tag code="6.1" vocabulary="3"/>',
      '<tag code="6.b" vocabulary="3"/>',
      '<tag code="13" vocabulary="2"/>',
    ])
  })

  it('leave out a code that does not exist, and say so', () => {
    const graph = aGraph({ sdgs: ['18', '6.9'] })
    expect(lines(graph, 'tag')).toEqual([])
    expect(codes(graph)).toEqual(['sdg-unknown', 'sdg-unknown'])
  })
})

describe('an emergency', () => {
  const attributes = (graph: Parameters<typeof toActivity>[0]) => mapped(graph).element.attributes

  it('is humanitarian by its theme or its GLIDE number, and by nothing else', () => {
    expect(attributes(aGraph())).toMatchObject({ humanitarian: '0' })
    expect(attributes(aGraph({ themes: [disasterTheme] }))).toMatchObject({ humanitarian: '1' })
    const graph = aGraph({ project: { glideNumber: 'FL-2026-000123-SLE' } })
    expect(attributes(graph)).toMatchObject({ humanitarian: '1' })
    expect(lines(graph, 'humanitarian-scope')).toEqual([
      '<humanitarian-scope type="1" vocabulary="1-2" code="FL-2026-000123-SLE"/>',
    ])
  })

  it('without a goal says why it has no budget', () => {
    expect(attributes(aGraph({ themes: [disasterTheme] }))).toMatchObject({ 'budget-not-provided': '3' })
    const withGoal = aGraph({ themes: [disasterTheme], project: { goal: amount('100') } })
    expect(attributes(withGoal)).not.toHaveProperty('budget-not-provided')
    expect(attributes(aGraph())).not.toHaveProperty('budget-not-provided')
  })
})

describe('a changed goal', () => {
  it('is the revised budget beside the original, in the same period', () => {
    const graph = aGraph({ project: { goal: amount('9000'), originalGoal: amount('8000') } })
    const period = '<period-start iso-date="2026-02-11"/><period-end iso-date="2027-02-10"/>'
    expect(lines(graph, 'budget')).toEqual([
      `<budget type="1" status="1">${period}<value currency="USD" value-date="2026-02-11">8000.00</value></budget>`,
      `<budget type="2" status="1">${period}<value currency="USD" value-date="2026-02-11">9000.00</value></budget>`,
    ])
  })

  it('is no revision when it is the same amount', () => {
    const graph = aGraph({ project: { goal: amount('8000.000'), originalGoal: amount('8000') } })
    expect(lines(graph, 'budget')).toHaveLength(1)
  })
})

describe('planned payouts', () => {
  const plan = (reference: string, plannedOn: string) => ({
    reference,
    plannedOn: day(plannedOn),
    amount: amount('550.000'),
    currency: usd,
  })

  it('are planned-disbursements until their day', () => {
    const graph = aGraph({ payoutPlan: [plan('a', '2026-11-21'), plan('b', '2026-12-01')] })
    expect(lines(graph, 'planned-disbursement')).toEqual([
      '<planned-disbursement type="1"><period-start iso-date="2026-12-01"/><period-end iso-date="2026-12-01"/>' +
        '<value currency="USD" value-date="2026-12-01">550.00</value>' +
        '<provider-org provider-activity-id="US-EIN-123456789-2045" ref="US-EIN-123456789" type="21">' +
        '<narrative>Example Giving</narrative></provider-org>' +
        '<receiver-org type="24"><narrative>Tara Water Trust</narrative></receiver-org></planned-disbursement>',
    ])
    expect(mapped(graph).validUntil).toBe('2026-12-01')
    expect(lines(graph, 'planned-disbursement', day('2026-12-01'))).toEqual([])
  })

  it('end when a disbursement of the same reference was made', () => {
    const paid = { reference: 'b', disbursedOn: day('2026-11-20'), amount: amount('540'), currency: usd }
    const graph = aGraph({ payoutPlan: [plan('b', '2026-12-01')], disbursements: [paid] })
    expect(lines(graph, 'planned-disbursement')).toEqual([])
    expect(lines(graph, 'transaction')).toHaveLength(1)
  })
})

describe('money that went out', () => {
  it('comes back as a negative disbursement that says so', () => {
    const graph = aGraph({
      disbursements: [{ reference: 'r-1', disbursedOn: day('2026-10-02'), amount: amount('-90.00'), currency: usd }],
    })
    expect(lines(graph, 'transaction')).toEqual([
      '<transaction ref="pay-r-1"><transaction-type code="3"/><transaction-date iso-date="2026-10-02"/>' +
        '<value currency="USD" value-date="2026-10-02">-90.00</value>' +
        '<description><narrative>Money returned by the implementing partner</narrative></description>' +
        '<provider-org provider-activity-id="US-EIN-123456789-2045" ref="US-EIN-123456789" type="21">' +
        '<narrative>Example Giving</narrative></provider-org>' +
        '<receiver-org type="24"><narrative>Tara Water Trust</narrative></receiver-org></transaction>',
    ])
  })

  it('is counted by currency, as the elements say', () => {
    const graph = aGraph({
      months: [
        aMonth('2026-08', '100.00'),
        aMonth('2026-08', '-5.005', { kind: 'refund' }),
        aMonth('2026-08', '7.00', { kind: 'fee' }),
        aMonth('2026-09', '1500', { currency: 'JPY' as typeof usd }),
      ],
    })
    expect(mapped(graph).totals).toEqual({ USD: { in: 9499n, out: 700n }, JPY: { in: 1500n, out: 0n } })
  })
})

describe('photos', () => {
  const photo = (renditions: object) => ({ position: 0, wireId: 0, renditions, consent: true })

  it('are linked by a rendition in a format that IATI lists', () => {
    const renditions = { large: 'https://giving.example/l.webp', original: 'https://giving.example/o.png' }
    expect(lines(aGraph({ photos: [photo(renditions)] }), 'document-link')[0]).toContain(
      'url="https://giving.example/o.png" format="image/png"',
    )
  })

  it('in webp only are left out, and that is said', () => {
    const graph = aGraph({ photos: [photo({ large: 'https://giving.example/l.webp?w=900' })] })
    expect(lines(graph, 'document-link')).toEqual([])
    expect(codes(graph)).toEqual(['format-unknown'])
  })

  it('without consent are not shown at all', () => {
    const graph = aGraph({ photos: [{ ...photo({ large: 'https://giving.example/l.jpg' }), consent: false }] })
    expect(lines(graph, 'document-link')).toEqual([])
  })
})

describe('results', () => {
  it('are periods from report to report, oldest first, at most the newest twenty', () => {
    const reports = Array.from({ length: 23 }, (_, index) =>
      aReport(23 - index, `2026-10-${String(23 - index).padStart(2, '0')}`),
    )
    const [result = ''] = lines(aGraph({ reports }), 'result')
    const periods = [...result.matchAll(/<period-start iso-date="([^"]*)"\/><period-end iso-date="([^"]*)"\/>/g)]
    expect(periods).toHaveLength(20)
    expect(periods[0]?.slice(1)).toEqual(['2026-10-03', '2026-10-04'])
    expect(periods.at(-1)?.slice(1)).toEqual(['2026-10-22', '2026-10-23'])
  })

  it('tell the lead of a report as plain text of at most 2,000 characters', () => {
    const contentHtml = `<h1>A &amp; B</h1><p>${'word '.repeat(900)}</p><script>no()</script>`
    const [result = ''] = lines(aGraph({ reports: [aReport(1, '2026-10-01', { contentHtml })] }), 'result')
    const comment = /<comment><narrative>([^<]*)<\/narrative>/.exec(result)?.[1] ?? ''
    expect(comment.startsWith('A &amp; B\nword word')).toBe(true)
    expect(comment.endsWith(' word…')).toBe(true)
    expect(comment.replace('&amp;', '&').length).toBeLessThanOrEqual(2000)
  })

  it('tell the title of a report that has pictures only', () => {
    const graph = aGraph({ reports: [aReport(1, '2026-10-01', { contentHtml: '<img src="a.jpg">' })] })
    expect(lines(graph, 'result')[0]).toContain('<comment><narrative>Report 1</narrative></comment>')
  })

  it('wait for a report that is dated in the future', () => {
    const graph = aGraph({ reports: [aReport(1, '2026-12-24')] })
    expect(lines(graph, 'result')).toEqual([])
    expect(mapped(graph).validUntil).toBe('2026-12-24')
  })
})

describe('an organisation that gives', () => {
  const funderOf = (funder: object) =>
    lines(
      aGraph({ months: [aMonth('2026-09', '10.00', { funder: { id: 7, name: 'Blue', ...funder } })] }),
      'participating-org',
    )[1]

  it('is told by its stored identifier as it is, else by its tax id in one form', () => {
    expect(funderOf({ orgRef: 'US-EIN-27-1661997', ein: '27-1661997' })).toContain('ref="US-EIN-27-1661997"')
    expect(funderOf({ ein: '27-1661997' })).toContain('ref="US-EIN-271661997"')
    expect(funderOf({ ein: '27-166' })).not.toContain('ref=')
  })

  it('never gets an identifier made of the platform’s own', () => {
    expect(funderOf({ orgRef: `${mappingConfig.reportingOrg.ref}-55` })).not.toContain('ref=')
  })
})
