import { Session } from 'node:inspector/promises'
import { describe, expect, it } from 'vitest'
import { toActivity } from '../../../src/iati/mapping/activity.js'
import { readKept } from '../../../src/iati/mapping/kept.js'
import { validateActivity } from '../../../src/iati/validation/index.js'
import { parseIsoDate } from '../../../src/kernel/dates.js'
import type { Kept, Project } from '../../../src/kernel/project.js'
import { writeElement } from '../../../src/kernel/xml/writer.js'
import { toEntry } from '../../../src/release/read/activity-entry.js'
import { toActivityRows } from '../../../src/release/tables/table-pieces.js'
import { someOf } from '../../support/runner/some-of.js'
import { aGraph, mappingConfig } from '../../support/values/builders.js'

const { ref, type, name } = mappingConfig.reportingOrg
const today = parseIsoDate('2026-11-21') ?? ('' as never)

function keptActivity(more: string, attributes = 'xml:lang="en" default-currency="EUR"'): Kept {
  const text = `<iati-activity ${attributes}><iati-identifier>${ref}-BIG</iati-identifier>
<reporting-org ref="${ref}" type="${type}"><narrative>${name}</narrative></reporting-org>
<title><narrative>Wells</narrative></title><description type="1"><narrative>Wells</narrative></description>
<participating-org role="1" type="22" ref="${ref}"/><activity-status code="2"/>
<activity-date type="2" iso-date="2014-01-01"/><recipient-country code="KE"/><sector vocabulary="1" code="14031"/>
${more}</iati-activity>`
  return { text, movedOn: today, ownNumber: false, file: 'old.xml', line: 10 }
}

async function published(kept: Kept) {
  const { project, ...rest } = aGraph({ organisation: undefined, countries: [], themes: [] })
  const { id, type: kind, status, funding, numberOfDonations, remaining, firstSeenOn } = project
  const imported = { id, type: kind, status, funding, numberOfDonations, remaining, firstSeenOn }
  const graph = {
    ...rest,
    project: { ...imported, title: 'Wells', iatiIdentifier: `${ref}-BIG`, active: false, paused: false } as Project,
  }
  const read = { ...kept, read: await readKept(kept) }
  return toActivity({ ...graph, kept: read }, mappingConfig, today, `${ref}-BIG`)
}

type Node = { readonly selfSize: number; readonly children: readonly Node[] }

/** Bytes that V8 allocates in some work, garbage included. */
async function allocatedIn(work: () => Promise<unknown>): Promise<number> {
  const session = new Session()
  session.connect()
  try {
    await session.post('HeapProfiler.startSampling', {
      ...{ samplingInterval: 4096 },
      ...{ includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true },
    })
    await work()
    const { profile } = await session.post('HeapProfiler.stopSampling')
    const sum = ({ selfSize, children }: Node): number => children.reduce((all, one) => all + sum(one), selfSize)
    return sum(profile.head)
  } finally {
    session.disconnect()
  }
}

describe('an activity of many parts', () => {
  const period = '<period-start iso-date="2020-01-01"/><period-end iso-date="2020-12-31"/>'
  const parts = [
    [
      'transactions',
      '<transaction><transaction-type code="3"/><transaction-date iso-date="2019-01-01"/><value value-date="2019-01-01">.63</value></transaction>',
    ],
    ['budgets', `<budget>${period}<value value-date="2020-01-01">5.</value></budget>`],
    ['locations', '<location><point><pos>1.5 2.5</pos></point></location>'],
    ['sectors', '<sector vocabulary="2" code="112" percentage="1"/>'],
    ['documents', '<document-link url="https://a.example/" format="text/html"><category code="A01"/></document-link>'],
    ['narratives', '<description type="2"><narrative xml:lang="fr">Puits</narrative></description>'],
    ['other identifiers', '<other-identifier ref="A" type="A2"/>'],
  ] as const
  it.each(someOf(parts, 7))('takes steps in proportion to its %s', async (_what, part) => {
    const steps = async (count: number) => {
      const kept = keptActivity(part.repeat(count))
      return await allocatedIn(async () => {
        const { element } = await published(kept)
        validateActivity(element, { today, strict: false })
        writeElement(element)
        toActivityRows(element)
        toEntry(element, 1, '00')
      })
    }
    await steps(500)
    const [half, whole] = [await steps(2_000), await steps(4_000)]
    // Twice as many parts take twice as much, and four times where each looks at all others; samples vary by a fifth.
    expect(whole / half).toBeLessThan(3)
  })
})

describe('a moved activity', () => {
  it('gives each of its themes its own percentage in the index, also where codes are numbers', async () => {
    const themes = [
      ['20', '75'],
      ['b', '15'],
      ['3', '10'],
    ] // In the order of the file.
      .map(([code, share]) => `<sector vocabulary="99" code="${code}" percentage="${share}"/>`)
    const { element } = await published(keptActivity(themes.join('')))
    const entry = JSON.parse(toEntry(element, 1, '00').entry.toString('utf8').split('\n')[0] ?? '')
    const codes = Object.keys(entry.themes)
    expect(Object.fromEntries(codes.map((code, at) => [code, entry.shares.themes[at]]))).toEqual({
      3: '10',
      20: '75',
      b: '15',
    })
  })

  it('says nothing that the file did not say', async () => {
    const { element, lastUpdated } = await published(keptActivity('', 'last-updated-datetime="2020-01-01T00:00:00Z"'))
    expect(element.attributes).toEqual({})
    expect(lastUpdated).toBe('2020-01-01T00:00:00Z')
    expect(element.children.map((child) => child.name)).not.toContain('other-identifier')
    expect(element.children.map((child) => child.name)).not.toContain('budget')
  })

  it('leaves out what is empty or cannot be written, with the line of its file, and writes codes of languages as on their list', async () => {
    const { element, notices } = await published(
      keptActivity(
        `<transaction><transaction-type code="3"/><transaction-date iso-date="2019-01-01"/><value value-date="2019-01-01">1</value>
<provider-org ref="" provider-activity-id=""><narrative xml:lang="FR">Fonds</narrative></provider-org><receiver-org ref=""/></transaction>
<x:note>unbound</x:note><y:note xmlns:y="urn:y">kept</y:note>`,
      ),
    )
    const text = writeElement(element)
    expect(text).toContain(
      '<provider-org><narrative xml:lang="fr">Fonds</narrative></provider-org><receiver-org ref=""/>',
    )
    expect(text).toContain('<y:note xmlns:y="urn:y">kept</y:note>')
    expect(text).not.toContain('unbound')
    expect(notices.map(({ code, path, line }) => [code, path, line])).toEqual([
      ['kept-left-out', '/iati-activity/transaction/provider-org/@ref', 16],
      ['kept-left-out', '/iati-activity/transaction/provider-org/@provider-activity-id', 16],
      ['kept-left-out', '/iati-activity/x:note', 17],
    ])
  })

  it('lacks what the file lacks: no status, no start is made up', async () => {
    const kept = keptActivity('')
    const lacking = { ...kept, text: kept.text.replace(/<activity-status[^>]*>|<activity-date[^>]*>/g, '') }
    const { element } = await published(lacking)
    const codes = validateActivity(element, { today, strict: false }).map(({ code }) => code)
    expect(codes).toEqual(expect.arrayContaining(['element-missing', 'start-date-missing']))
    expect(element.children.map((child) => child.name)).not.toContain('activity-status')
  })
})
