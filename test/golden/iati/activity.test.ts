import { describe, expect, it } from 'vitest'
import { newIdentifier, toActivity } from '../../../src/iati/mapping/activity.js'
import { validateActivity } from '../../../src/iati/validation/index.js'
import { writeElement } from '../../../src/kernel/xml/writer.js'
import { pretty } from '../../support/iati/pretty-xml.js'
import {
  aGraph,
  aMonth,
  amount,
  anOrganisation,
  aReport,
  day,
  disasterTheme,
  mappingConfig,
  usd,
  waterTheme,
} from '../../support/values/builders.js'

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
  const opening = (source: 'import' | 'local', modifiedDate?: Date, count = 3) =>
    lines(
      aGraph({
        project: { modifiedDate },
        months: [aMonth('2012-05', '90.00', { kind: 'opening', source, lastOn: day('2012-05-06'), count })],
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

  it('of a record that states no number of donations names none', () => {
    expect(opening('local', undefined, 0)).toContain('Donations received until 2012-05-06, cumulative<')
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
})

describe('shares', () => {
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
})

describe('transactions', () => {
  it('date the running month by its last gift and become stale at its end', () => {
    const graph = aGraph({ months: [aMonth('2026-11', '10.00', { lastOn: day('2026-11-19') })] })
    expect(lines(graph, 'transaction')[0]).toContain('<transaction-date iso-date="2026-11-19"/>')
    expect(mapped(graph).validUntil).toBe('2026-11-30')
    expect(lines(graph, 'transaction', day('2026-11-30'))[0]).toContain('<transaction-date iso-date="2026-11-30"/>')
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

describe('organisation references', () => {
  it('never invent a prefix', () => {
    const graph = aGraph({ organisation: anOrganisation({ orgRef: 'XX-MADEUP-77' }) })
    expect(lines(graph, 'participating-org').at(-1)).not.toContain('ref=')
    expect(codes(graph)).toContain('organisation-ref-unusable')
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
