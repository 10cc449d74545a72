import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { createXsdValidator, type FileReport, validateFile } from '../../../../src/iati/validation/index.js'
import type { IsoDate, IsoInstant } from '../../../../src/kernel/dates.js'
import { type Element, element } from '../../../../src/kernel/xml/element.js'
import { writeElement } from '../../../../src/kernel/xml/writer.js'
import { placed } from '../../../support/iati/iati-editing.js'
import {
  anActivity,
  anOrganisation,
  budget,
  period,
  replaced,
  value,
  withAttributes,
} from '../../../support/iati/iati-records.js'
import { someOf } from '../../../support/runner/some-of.js'
import { officialStandard } from '../../../support/values/borrowed-files.js'
import { temporaryFolder } from '../../../support/values/temporary-folder.js'

const context = { today: '2026-12-31' as IsoDate }
let folder: string

beforeAll(async () => {
  folder = await temporaryFolder()
})

async function validated(
  text: string | Buffer,
  options: Partial<Parameters<typeof validateFile>[1]> = {},
): Promise<FileReport> {
  const path = join(folder, 'file.xml')
  await writeFile(path, text)
  return await validateFile(path, { context, ...options })
}

function activityFile(
  activities: readonly Element[],
  attributes = 'version="2.03" generated-datetime="2026-12-31T02:00:00Z"',
): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<iati-activities ${attributes}>\n${activities.map((one) => `${writeElement(one)}\n`).join('')}</iati-activities>\n`
}

const numbered = (id: string): Element =>
  replaced(anActivity(), 'iati-identifier', (found) => ({ ...found, text: `XM-DAC-47045-${id}` }))
const coded = (of: Element, path: string, code: string): Element =>
  replaced(of, path, (found) => withAttributes(found, { code }))
const planned = (party: Element): Element =>
  element('planned-disbursement', {}, [...period('2027-01-01', '2027-03-31'), value('5.00', '2026-01-01'), party])
const found = ({ samples }: FileReport) =>
  samples.map(({ code, subject, path, line }) => `${code} ${subject} ${path} ${line}`)

describe('a file', () => {
  it('of valid activities gives no notice', async () => {
    const text = activityFile([numbered('1'), numbered('2')])
    expect(await validated(text)).toEqual({
      kind: 'activity',
      version: '2.03',
      records: 2,
      bytes: Buffer.byteLength(text),
      complete: true,
      summary: { errors: 0, warnings: 0, infos: 0, byCode: {} },
      samples: [],
    })
  })

  it.each(['constructor', '__proto__', 'toString'])('with the root %s is no file of IATI', async (root) => {
    await expect(validated(`<${root}/>`)).rejects.toThrow(
      `expected the root element iati-activities or iati-organisations, got ${root}`,
    )
  })

  it('of organisations is known by its root', async () => {
    const text = `<iati-organisations version="2.03" generated-datetime="2026-12-31T02:00:00Z">${writeElement(anOrganisation())}</iati-organisations>`
    expect(await validated(text)).toMatchObject({ kind: 'organisation', records: 1, samples: [] })
  })

  it('gives each notice with code, identifier, path and line', async () => {
    const wrong = replaced(numbered('2'), 'activity-status', (status) => withAttributes(status, { code: '9' }))
    expect(found(await validated(activityFile([numbered('1'), wrong])))).toEqual([
      'code-unknown XM-DAC-47045-2 /iati-activity/activity-status/@code 4',
    ])
  })

  it.each<[string, string, string[]]>([
    [
      'an identifier twice',
      activityFile([numbered('1'), numbered('1')]),
      ['identifier-repeated XM-DAC-47045-1 /iati-activity 4'],
    ],
    [
      'two reporting organisations',
      activityFile([
        numbered('1'),
        replaced(
          replaced(anActivity(), 'iati-identifier', (one) => ({ ...one, text: 'XM-DAC-1-1' })),
          'reporting-org',
          (one) => withAttributes(one, { ref: 'XM-DAC-1' }),
        ),
      ]),
      ['reporting-org-several XM-DAC-1-1 /iati-activity 4'],
    ],
    [
      'another version',
      activityFile([numbered('1')], 'version="2.02" generated-datetime="2026-12-31T02:00:00Z"'),
      ['version-earlier iati-activities /iati-activities/@version 2'],
    ],
    [
      'no version and no time',
      activityFile([numbered('1')], ''),
      [
        'attribute-missing iati-activities /iati-activities/@version 2',
        'generated-missing iati-activities /iati-activities/@generated-datetime 2',
      ],
    ],
    [
      'a time in the future',
      activityFile([numbered('1')], 'version="2.03" generated-datetime="2027-01-01T00:00:00Z"'),
      ['generated-in-future iati-activities /iati-activities/@generated-datetime 2'],
    ],
    ['no activity', activityFile([]), ['element-missing iati-activities /iati-activities 2']],
    [
      'an element that is none',
      activityFile([numbered('1')]).replace('</iati-activities>', '<project/></iati-activities>'),
      ['element-unknown iati-activities /iati-activities 4'],
    ],
    [
      'text between activities',
      activityFile([numbered('1')]).replace('</iati-activities>', 'oops</iati-activities>'),
      ['text-unexpected iati-activities /iati-activities 4'],
    ],
    [
      'a foreign element before an activity',
      activityFile([numbered('1')]).replace('<iati-activity ', '<own:x xmlns:own="urn:own"/><iati-activity '),
      ['element-misplaced iati-activities /iati-activities 3'],
    ],
  ])('with %s is told so', async (_what, text, expected) => {
    expect(found(await validated(text))).toEqual(expected)
  })

  it.each<[string, (activity: Element) => Element, string]>([
    [
      'a participant',
      (one) => replaced(one, 'participating-org', (org) => withAttributes(org, { 'activity-id': 'XM-DAC-1-9' })),
      'participating-org/@activity-id',
    ],
    [
      'a provider of a transaction',
      (one) =>
        replaced(one, 'transaction/provider-org', (org) =>
          withAttributes(org, { 'provider-activity-id': 'XM-DAC-1-9' }),
        ),
      'transaction[1]/provider-org/@provider-activity-id',
    ],
    [
      'a receiver of a transaction',
      (one) =>
        replaced(one, 'transaction/receiver-org', (org) =>
          withAttributes(org, { 'receiver-activity-id': 'XM-DAC-1-9' }),
        ),
      'transaction[1]/receiver-org/@receiver-activity-id',
    ],
    [
      'a provider of a planned disbursement',
      (one) =>
        placed(one, '', planned(element('provider-org', { 'provider-activity-id': 'XM-DAC-1-9', ref: 'XM-DAC-1' }))),
      'planned-disbursement/provider-org/@provider-activity-id',
    ],
    [
      'a receiver of a planned disbursement',
      (one) =>
        placed(one, '', planned(element('receiver-org', { 'receiver-activity-id': 'XM-DAC-1-9', ref: 'XM-DAC-1' }))),
      'planned-disbursement/receiver-org/@receiver-activity-id',
    ],
    [
      'a related activity',
      (one) => placed(one, '', element('related-activity', { ref: 'XM-DAC-1-9', type: '5' })),
      'related-activity/@ref',
    ],
  ])('tells, for information, that an activity named by %s is not in it', async (_what, change, path) => {
    const linking = change(numbered('1'))
    expect(found(await validated(activityFile([linking, numbered('2')])))).toEqual([
      `linked-activity-missing XM-DAC-47045-1 /iati-activity/${path} 3`,
    ])
    const linked = replaced(numbered('3'), 'iati-identifier', (one) => ({ ...one, text: 'XM-DAC-47045-XM-DAC-1-9' }))
    const own = JSON.parse(JSON.stringify(linking).replaceAll('XM-DAC-1-9', 'XM-DAC-47045-XM-DAC-1-9')) as Element
    // Before or after the activity that names it.
    expect(found(await validated(activityFile([own, linked])))).toEqual([])
    expect(found(await validated(activityFile([linked, own])))).toEqual([])
  })

  it('tells each missing activity once', async () => {
    const linking = (id: string) =>
      placed(numbered(id), '', element('related-activity', { ref: 'XM-DAC-1-9', type: '5' }))
    expect(found(await validated(activityFile([linking('1'), linking('2')])))).toHaveLength(1)
  })

  it.each([
    ['a CDATA section', '<![CDATA[</iati-activity>]]>', 1],
    ['a comment', '<!-- <iati-activity xml:lang="en"> -->', 1],
    ['nothing hidden', '<!-- of iati-activity --><![CDATA[activities]]>', 0],
  ])('tells of tags in %s', async (_what, markup, count) => {
    const text = activityFile([numbered('1')]).replace('Wells for a village.', `Wells ${markup}`)
    const codes = (await validated(text)).samples.map(({ code, line }) => `${code} ${line}`)
    expect(codes).toEqual(Array.from({ length: count }, () => 'record-tag-hidden 3'))
  })

  it('compares instants where now is known', async () => {
    const at = (time: string) => activityFile([numbered('1')], `version="2.03" generated-datetime="${time}"`)
    const now = { context: { ...context, now: '2026-12-31T02:00:00Z' as IsoInstant } }
    expect(found(await validated(at('2026-12-31T02:00:00Z'), now))).toEqual([])
    expect(found(await validated(at('2026-12-31T02:00:01Z'), now))).toEqual([
      'generated-in-future iati-activities /iati-activities/@generated-datetime 2',
    ])
  })

  it('may come from a stream', async () => {
    async function* halves(): AsyncGenerator<Buffer> {
      const bytes = Buffer.from(activityFile([numbered('1'), numbered('1')]))
      yield bytes.subarray(0, 700)
      yield bytes.subarray(700)
    }
    const report = await validateFile('-', { context, input: halves() })
    expect(found(report)).toEqual(['identifier-repeated XM-DAC-47045-1 /iati-activity 4'])
  })

  it('takes registered publishers as they are', async () => {
    const odd = [replaced(anActivity(), 'reporting-org', (org) => withAttributes(org, { ref: 'ODD/7' }))].map((one) =>
      replaced(one, 'iati-identifier', (id) => ({ ...id, text: 'ODD/7-1' })),
    )
    const codes = async (registered: string[]) =>
      (await validated(activityFile(odd), { context: { ...context, registeredOrganisations: new Set(registered) } }))
        .summary.byCode
    expect(await codes([])).toEqual({ 'identifier-symbols': 2, 'reporting-org-prefix-unknown': 1 })
    expect(await codes(['ODD/7'])).toEqual({})
  })

  it.each<[string, (activity: Element) => Element, string, string?]>([
    ['a withdrawn code', (one) => coded(one, 'sector', '74010'), 'code-withdrawn'],
    ['an unlisted language', (one) => withAttributes(one, { 'xml:lang': 'zz' }), 'code-unknown'],
    [
      'an empty reference',
      (one) => replaced(one, 'participating-org', (org) => withAttributes(org, { ref: '' })),
      'reference-empty',
    ],
    [
      'a party without a name',
      (one) => replaced(one, 'transaction/provider-org', (org) => ({ ...org, children: [] })),
      'organisation-unnamed',
      'error',
    ],
    [
      'a party with an empty name',
      (one) => replaced(one, 'transaction/provider-org', (org) => ({ ...org, children: [element('narrative', {})] })),
      'organisation-blank',
    ],
    ['budgets that share a day', (one) => placed(one, '', budget('2026-12-31', '2027-06-30')), 'budget-touch', 'info'],
    ['budgets that share two days', (one) => placed(one, '', budget('2026-12-30', '2027-06-30')), 'budget-overlap'],
    [
      'a negative budget',
      (one) => placed(one, '', budget('2027-01-01', '2027-06-30', '-1')),
      'budget-negative',
      'info',
    ],
    [
      'a relative address',
      (one) => replaced(one, 'document-link', (link) => withAttributes(link, { url: '/7' })),
      'url-unusable',
    ],
  ])(
    'of another publisher with %s is judged as the official validator does, and has an error when it is checked as our own',
    async (_what, change, code, elsewhere = 'warning') => {
      const text = activityFile([change(numbered('1'))])
      const severities = async (strict: boolean) =>
        (await validated(text, { context: { ...context, strict } })).samples.flatMap((one) =>
          one.code === code ? [one.severity] : [],
        )
      expect(await severities(false)).toEqual([elsewhere])
      expect(await severities(true)).toEqual(['error'])
    },
  )

  it('of another publisher with an unknown code elsewhere has an error', async () => {
    const text = activityFile([coded(numbered('1'), 'sector', '1')])
    const { summary } = await validated(text, { context: { ...context, strict: false } })
    expect(summary).toMatchObject({ errors: 1, byCode: { 'code-unknown': 1 } })
  })

  it('with a prefix that is not declared is checked to its end', async () => {
    const text = activityFile([numbered('1'), numbered('2'), numbered('3')])
      .replace('>XM-DAC-47045-2<', ' own:id="7">XM-DAC-47045-2<')
      .replace('<iati-activity ', '<iati-activity xmlns:known="urn:known" known:id="7" ')
      .replace('</iati-activities>', '<own:extra/></iati-activities>')
    const report = await validated(text)
    expect(report).toMatchObject({ records: 3, complete: true })
    expect(found(report)).toEqual([
      'prefix-unbound XM-DAC-47045-2 /iati-activity/iati-identifier/@own:id 4',
      'prefix-unbound own:extra without identifier /own:extra 6',
    ])
    expect(report.samples[0]?.detail).toBe('expected a declaration of the prefix "own", got none')
  })

  it('with a prefix on its root that is not declared is told so', async () => {
    const text = activityFile([numbered('1')], 'version="2.03" generated-datetime="2026-12-31T02:00:00Z" own:id="7"')
    expect(found(await validated(text))).toEqual(['prefix-unbound iati-activities /iati-activities/@own:id 2'])
  })

  it('names each attribute that only the official schema can check', async () => {
    const odd = withAttributes(numbered('1'), { 'xml:id': '1 2', 'xsi:nil': 'true', 'xml:lang': 'en' })
    const namespaces = 'version="2.03" generated-datetime="2026-12-31T02:00:00Z" xsi:noNamespaceSchemaLocation="a"'
    const text = activityFile([odd], `xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" ${namespaces}`)
    const report = await validated(text)
    expect(found(report)).toEqual([
      'attribute-unchecked XM-DAC-47045-1 /iati-activity/@xml:id 3',
      'attribute-unchecked XM-DAC-47045-1 /iati-activity/@xsi:nil 3',
    ])
    expect(report.summary.errors).toBe(0)
    const asked = await validated(text, { xsd: { validate: (records) => records.map(() => []) } })
    expect(found(asked)).toEqual([])
  })

  const wide = (elements: number) => `<iati-identifier>XM-DAC-47045-wide</iati-identifier>${'<a/>'.repeat(elements)}`
  const deep = (levels: number) => `${'<a>'.repeat(levels)}${'</a>'.repeat(levels)}`
  const tooLarge = [
    ['elements', wide(500_000), 'has more than 500000 elements'],
    ['characters', `<iati-identifier>XM-DAC-47045-wide</iati-identifier>${'x'.repeat(16_100_000)}`, 'is longer than'],
    ['levels', `<iati-identifier>XM-DAC-47045-wide</iati-identifier>${deep(70)}`, 'nests deeper than 64 elements'],
    [
      'attributes',
      `<iati-identifier>XM-DAC-47045-wide</iati-identifier><a${Array.from({ length: 101 }, (_, n) => ` a${n}=""`).join('')}/>`,
      'has an element with more than 100 attributes',
    ],
  ] as const
  const some = someOf(tooLarge, 2)
  it.each(some)('with a well-formed record of too many %s names it and goes on', async (_what, content, reason) => {
    const text = activityFile([numbered('1'), numbered('2')])
    const report = await validated(
      text.replace('</iati-activity>\n', `</iati-activity>\n<iati-activity>${content}</iati-activity>\n`),
    )
    expect(report).toMatchObject({
      records: 3,
      complete: true,
      summary: { errors: 1, byCode: { 'record-too-large': 1 } },
    })
    expect(found(report)).toEqual(['record-too-large XM-DAC-47045-wide /iati-activity 4'])
    expect(report.samples[0]?.detail).toContain(reason)
  })

  it('asks the official schema about smaller records only', async () => {
    const long = replaced(numbered('long'), 'title/narrative', (one) => ({ ...one, text: 'x'.repeat(2_000_000) }))
    const asked: Buffer[] = []
    const validate = (records: readonly Buffer[]) => {
      asked.push(...records)
      return records.map(() => [])
    }
    expect(found(await validated(activityFile([numbered('1'), long]), { xsd: { validate } }))).toContain(
      'schema-skipped XM-DAC-47045-long /iati-activity 4',
    )
    expect(asked).toHaveLength(1)
  })

  it('gives all notices in the same order, whatever time the official schema takes', async () => {
    const wrong = (_: unknown, index: number) =>
      replaced(numbered(String(index)), 'activity-status', (status) => withAttributes(status, { code: '9' }))
    const text = activityFile(Array.from({ length: 450 }, wrong))
    const [refused] = (await validated(text)).samples
    if (!refused) throw new Error('expected a notice')
    const order = async (answer: () => Promise<void> | undefined): Promise<string[]> => {
      const notices: string[] = []
      await validated(text, {
        onNotice: ({ code, subject, line }) => notices.push(`${code} ${subject} ${line}`),
        xsd: {
          validate: async (records) => {
            await answer()
            return records.map(() => [{ ...refused, code: 'xsd-invalid' }])
          },
        },
      })
      return notices
    }
    const atOnce = await order(() => undefined)
    expect(atOnce).toHaveLength(900)
    expect(atOnce.indexOf('xsd-invalid XM-DAC-47045-0 3')).toBeLessThan(300)
    let asked = 0
    let start = (): void => undefined
    const started = new Promise<void>((resolve) => {
      start = resolve
    })
    // Starts when many batches wait for it.
    const late = await order(() => {
      asked += 1
      if (asked === 5) start()
      return started
    })
    expect(late).toEqual(atOnce)
  })

  it.each([
    ['in notices', '<iati-activity/>', 50_000, 5_000],
    ['in bytes', `<iati-activity>${'x'.repeat(500_000)}</iati-activity>`, 40, 20],
  ])('reads no further than the official schema can follow, %s, and fails with it', async (_, record, count, most) => {
    const text = `<iati-activities version="2.03">${record.repeat(count)}</iati-activities>`
    let [asked, before] = [0, 0]
    let fail = (): void => undefined
    const failed = new Promise<never>((_, reject) => {
      fail = () => reject(new Error('the thread ended'))
    })
    // Fails once nothing more is asked.
    const watching = setInterval(() => {
      if (asked > 0 && asked === before) fail()
      before = asked
    }, 50)
    const validate = (batch: readonly Buffer[]) => {
      asked += batch.length
      return failed
    }
    await expect(validated(text, { xsd: { validate } })).rejects.toThrow('the thread ended')
    clearInterval(watching)
    expect(asked).toBeLessThan(most)
  })

  it.each([
    ['an attribute without end', '<iati-activity a="'],
    ['a tag without end', '<iati-activity '],
    ['nesting without end', '<iati-activity>'],
  ])('stops at %s', async (_what, start) => {
    const more = start.endsWith('"') ? 'x' : start.endsWith(' ') ? 'a="" b="" ' : '<a>'
    async function* endless(): AsyncGenerator<Buffer> {
      yield Buffer.from(`<iati-activities version="2.03" generated-datetime="2026-12-31T02:00:00Z">${start}`)
      for (;;) yield Buffer.from(more.repeat(10_000))
    }
    const report = await validateFile('-', { context, input: endless() })
    expect(report).toMatchObject({ complete: false, summary: { byCode: { 'record-too-large': 1 } } })
  })

  it('that breaks off is checked as far as it goes', async () => {
    const text = activityFile([numbered('1'), numbered('1'), numbered('2')])
    const report = await validated(text.slice(0, text.length - 60))
    expect(report).toMatchObject({ records: 2, complete: false, summary: { errors: 2 } })
    expect(report.samples.map(({ code }) => code)).toEqual(['identifier-repeated', 'xml-unreadable'])
    expect(report.samples[1]?.line).toBe(5)
  })

  it('with a flood of findings has exact counts and few samples', async () => {
    const wrong = Array.from({ length: 500 }, (_, index) =>
      replaced(numbered(String(index)), 'activity-status', (status) => withAttributes(status, { code: '9' })),
    )
    let all = 0
    const report = await validated(activityFile(wrong), { samplesPerCode: 3, onNotice: () => (all += 1) })
    expect(report.summary).toEqual({ errors: 500, warnings: 0, infos: 0, byCode: { 'code-unknown': 500 } })
    expect(report.samples).toHaveLength(3)
    expect(all).toBe(500)
  })
})

describe('a file that is no IATI', () => {
  it.each([
    ['an HTML page', '<html><body/></html>', 'got html'],
    ['IATI in a namespace', '<iati-activities xmlns="urn:x" version="2.03"/>', 'urn:x'],
    ['JSON', '{"projects": []}', 'cannot read'],
    ['nothing', '', 'cannot read'],
    ['UTF-32', Buffer.from([0xff, 0xfe, 0, 0, 0x3c, 0, 0, 0]), 'UTF-32'],
    ['an encoding that nobody knows', '<?xml version="1.0" encoding="klingon"?><iati-activities/>', 'klingon'],
    ['a document with a DOCTYPE', '<!DOCTYPE iati-activities><iati-activities/>', 'DOCTYPE'],
  ])('such as %s is unusable', async (_what, text, reason) => {
    await expect(validated(text)).rejects.toMatchObject({
      code: 'input-unusable',
      message: expect.stringContaining(reason),
    })
  })

  it('or is not there is unusable', async () => {
    await expect(validateFile(join(folder, 'none.xml'), { context })).rejects.toMatchObject({ code: 'input-unusable' })
  })
})

it('validation stops on the signal', async () => {
  await expect(validated(activityFile([numbered('1')]), { signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: 'aborted',
  })
})

const official = officialStandard('validating files with the official XSD and the official samples')

describe.skipIf(!official)('with the official files', () => {
  it.each(['activities.sample.xml', 'organisations.sample.xml'])('the sample %s gives no notice', async (name) => {
    const xsd = await createXsdValidator(official ?? '')
    try {
      const report = await validateFile(join(official ?? '', 'samples', name), { context, ...(xsd && { xsd }) })
      expect(report.samples).toEqual([])
      expect(report.complete).toBe(true)
    } finally {
      xsd?.dispose()
    }
  })

  it('the official schema names the record that it refuses, among more than a batch', async () => {
    const activities = Array.from({ length: 230 }, (_, index) => numbered(String(index)))
    activities[101] = replaced(numbered('wrong'), 'activity-status', () => undefined)
    const xsd = await createXsdValidator(official ?? '')
    try {
      const report = await validated(activityFile(activities), { ...(xsd && { xsd }) })
      expect(found(report)).toEqual([
        'element-missing XM-DAC-47045-wrong /iati-activity 104',
        'xsd-invalid XM-DAC-47045-wrong /iati-activity/activity-date[1] 104',
      ])
    } finally {
      xsd?.dispose()
    }
  })
})

it('a directory without the official schemas gives no validator', async () => {
  expect(await createXsdValidator(folder)).toBeUndefined()
})
