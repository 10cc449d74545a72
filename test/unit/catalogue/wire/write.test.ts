import { describe, expect, it } from 'vitest'
import { organisationList, projectList } from '../../../../src/catalogue/wire/names.js'
import { fieldTexts, joinFields, wireFields } from '../../../../src/catalogue/wire/write/fields.js'
import { imageLinks } from '../../../../src/catalogue/wire/write/image.js'
import { joinRecords, listDocument, recordDocument } from '../../../../src/catalogue/wire/write/list.js'
import { organisationTexts } from '../../../../src/catalogue/wire/write/organisation.js'
import { projectIdRecord, projectTexts } from '../../../../src/catalogue/wire/write/project.js'
import {
  boolean,
  decimal,
  integer,
  list,
  object,
  string,
  toJson,
  toXml,
  type WireValue,
  wireDocument,
} from '../../../../src/catalogue/wire/write/wire-value.js'
import type { Decimal } from '../../../../src/kernel/money.js'
import type { Noun } from '../../../../src/kernel/nouns/field.js'
import { aGraph, anOrganisation } from '../../../support/values/builders.js'

const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const text = (pieces: readonly string[]) => pieces.join('')

describe('a list', () => {
  it.each([
    [{ records: '' }, '<projects></projects>', '{"projects":{"project":[]}}'],
    [
      { records: '', numberFound: 0 },
      '<projects numberFound="0"></projects>',
      '{"projects":{"project":[],"numberFound":0}}',
    ],
    [
      { records: '', numberFound: 9, next: 5 },
      '<projects numberFound="9"><hasNext>true</hasNext><nextProjectId>5</nextProjectId></projects>',
      '{"projects":{"hasNext":true,"nextProjectId":5,"project":[],"numberFound":9}}',
    ],
    [
      { records: '1', next: 5 },
      '<projects><hasNext>true</hasNext><nextProjectId>5</nextProjectId>1</projects>',
      '{"projects":{"hasNext":true,"nextProjectId":5,"project":[1]}}',
    ],
    [
      { records: '1', numberFound: 1 },
      '<projects numberFound="1">1</projects>',
      '{"projects":{"project":[1],"numberFound":1}}',
    ],
  ])('of %j', (page, xml, json) => {
    expect(text(listDocument('xml', projectList, page))).toBe(head + xml)
    expect(text(listDocument('json', projectList, page))).toBe(json)
  })

  it('has names of its own for other records', () => {
    expect(text(listDocument('json', organisationList, { records: '1', next: 2 }))).toBe(
      '{"organizations":{"hasNext":true,"nextOrgId":2,"organization":[1]}}',
    )
  })

  it('joins its records', () => {
    expect(joinRecords('xml', ['<a/>', '<b/>'])).toBe('<a/><b/>')
    expect(joinRecords('json', ['1', '2'])).toBe('1,2')
  })
})

describe('a document', () => {
  it('holds one record', () => {
    expect(text(recordDocument('xml', 'project', '<project/>'))).toBe(`${head}<project/>`)
    expect(text(recordDocument('json', 'project', '{}'))).toBe('{"project":{}}')
    expect(projectIdRecord('xml', '7')).toBe('<project><id>7</id></project>')
    expect(projectIdRecord('json', '7')).toBe('{"id":7}')
  })

  it('has a root', () => {
    expect(wireDocument('xml', 'a', object([['b', integer(1)]]))).toBe(`${head}<a><b>1</b></a>`)
    expect(wireDocument('json', 'a', object([['b', integer(1)]]))).toBe('{"a":{"b":1}}')
  })
})

describe('a value', () => {
  it.each<[() => WireValue, string, string]>([
    [() => boolean(false), '<a>false</a>', 'false'],
    [() => integer('9007199254740993'), '<a>9007199254740993</a>', '9007199254740993'],
    [() => decimal('13.5392' as Decimal), '<a>13.5392</a>', '13.5392'],
    [() => decimal('13.5000' as Decimal), '<a>13.5</a>', '13.5'],
    [() => decimal('13.000' as Decimal), '<a>13</a>', '13'],
    [() => decimal('130' as Decimal), '<a>130</a>', '130'],
    [() => string('a<"\u0000'), '<a>a&lt;"</a>', '"a<\\""'],
    [() => list([]), '', '[]'],
    [() => list([integer(1), integer(2)]), '<a>1</a><a>2</a>', '[1,2]'],
    [
      () =>
        object([
          ['c', integer(1)],
          ['@z', string('"')],
          ['b', undefined],
          ['a', list([])],
          ['B', string('')],
        ]),
      '<a z="&quot;"><B></B><c>1</c></a>',
      '{"c":1,"z":"\\"","B":""}',
    ],
    [
      () =>
        object([
          ['a', list([])],
          ['b', integer(1)],
        ]),
      '<a><b>1</b></a>',
      '{"b":1}',
    ],
    [
      () =>
        object(
          [
            ['b', integer(1)],
            ['a', integer(2)],
          ],
          'given',
        ),
      '<a><b>1</b><a>2</a></a>',
      '{"b":1,"a":2}',
    ],
  ])('%s', (make, xml, json) => {
    const value = make()
    expect([toXml('a', value), toJson(value)]).toEqual([xml, json])
  })

  it.each([() => object([]), () => list([])])('that is an attribute is no %s', (make) => {
    expect(() => toXml('a', object([['@b', make()]]))).toThrow('an attribute holds one scalar')
  })

  it('comes from the derived fields, or else from the table, and is empty or left out where it is absent', () => {
    const noun: Noun = {
      countryName: { kind: 'text?', name: 'country', wire: { at: 30, always: true } },
      derived: { kind: 'image', part: true },
      title: { kind: 'text', wire: { at: 10 } },
      notice: { kind: 'text?', wire: { always: true } },
      goal: { kind: 'money?', wire: { at: 20 } },
      deadline: { kind: 'day?', by: 'iati' },
    }
    const fields = wireFields<object>(noun, (of) => of, { derived: () => integer(7) })
    const textOf = (noun: object) => joinFields('a', fieldTexts(fields, noun))
    expect(textOf({ title: 't', notice: 'n', goal: '5', countryName: 'Kenya' })).toEqual({
      xml: '<a><country>Kenya</country><derived>7</derived><goal>5.00</goal><notice>n</notice><title>t</title></a>',
      json: '{"title":"t","notice":"n","goal":5.00,"country":"Kenya","derived":7}',
    })
    expect(textOf({}).json).toBe('{"title":"","notice":"","country":"","derived":7}')
    const videos = [
      { name: 'videos', valueIn: () => list([]) },
      { name: 'id', valueIn: () => integer(1) },
    ]
    expect(joinFields('a', fieldTexts(videos, {})).json).toBe('{"id":1}')
  })

  it('of a field that no table has is an error of the program', () => {
    expect(() => wireFields({ colour: { kind: 'source' } }, () => ({}), {})).toThrow('no field is written as colour')
  })
})

describe('the links of a picture', () => {
  it('show the nearest size, the larger of two, or else another address', () => {
    const urls = (of: Record<string, string>) =>
      imageLinks(of, 'https://x.example/none').map(
        (link) => /"url":"https:\/\/x\.example\/(\w+)"/.exec(toJson(link))?.[1],
      )
    expect(urls({})).toEqual(Array(6).fill('none'))
    expect(urls({ thumbnail: 'https://x.example/t', original: 'https://x.example/o' })).toEqual([
      't',
      't',
      't',
      'o',
      'o',
      'o',
    ])
  })
})

type Changes = NonNullable<Parameters<typeof aGraph>[0]>

describe('a project', () => {
  const texts = (changes: Changes) => projectTexts(aGraph(changes))
  const recordOf = (changes: Changes) => JSON.parse(texts(changes).json) as Record<string, unknown>
  const earlier = new Date('2026-10-01T08:00:00Z')
  const later = new Date('2026-10-02T08:00:00Z')
  const photo = { position: 0, wireId: 1, title: 'A well', renditions: { original: 'https://o.example' } } as never
  const none = { countries: [], themes: [], photos: [] }

  it.each<[Changes, Record<string, unknown>]>([
    [{ project: { themeName: 'own' }, themes: [] }, { themeName: 'own' }],
    [
      { ...none, project: {} },
      { themeName: '', country: '', iso3166CountryCode: '', imageLink: '' },
    ],
    [
      { ...none, project: { countryName: 'Kenya', countryCode: 'KE', imageLink: 'https://i.example' } },
      { country: 'Kenya', iso3166CountryCode: 'KE', imageLink: 'https://i.example' },
    ],
    [
      { project: { countryName: 'Kenya', countryCode: 'KE' }, countries: [{ code: 'UG', name: 'Uganda' }] },
      { country: 'Kenya', iso3166CountryCode: 'KE' },
    ],
    [
      { project: {}, countries: [{ code: 'UG', name: 'Uganda' }] },
      { country: 'Uganda', iso3166CountryCode: 'UG' },
    ],
    [{ photos: [photo] }, { imageLink: 'https://o.example' }],
    [{ project: { imageLink: 'https://i.example' }, photos: [photo] }, { imageLink: 'https://i.example' }],
    ...['www.example.org', 'mailto:', 'javascript:1', ' https://x', '//x', 'https:///x', 'ftp://x'].map(
      (imageLink): [Changes, Record<string, unknown>] => [{ project: { imageLink } }, { imageLink: '' }],
    ),
    [{ videos: ['https://v.example'] }, { videos: { video: [{ url: 'https://v.example' }] } }],
    [{ project: { modifiedDate: earlier } }, { modifiedDate: '2026-10-01T08:00:00+00:00' }],
    [{ project: { modifiedDate: earlier, totalsChangedAt: later } }, { modifiedDate: '2026-10-02T08:00:00+00:00' }],
    [{ project: { modifiedDate: later, totalsChangedAt: earlier } }, { modifiedDate: '2026-10-02T08:00:00+00:00' }],
    [{ project: { goal: '100.00' as Decimal, funding: '40.00' as Decimal } }, { remaining: 60 }],
    [{ project: { goal: '40.00' as Decimal, funding: '100.00' as Decimal } }, { remaining: 0 }],
    [{ project: { remaining: '3.00' as Decimal, funding: '40.00' as Decimal } }, { remaining: 3 }],
    [
      { project: { goal: '100.00' as Decimal, remaining: '-3.00' as Decimal, funding: '40.00' as Decimal } },
      { remaining: 0 },
    ],
  ])('of %j has %j', (changes, expected) => {
    expect(recordOf(changes)).toMatchObject(expected)
  })

  it('has addresses that lead to pages and mail only, and nothing in place of others', () => {
    const addressesOf = (address: string) => {
      const { organization, ...project } = recordOf({
        project: {
          ...{ contactUrl: address, projectLink: address, progressReportLink: address, imageLink: address },
          additionalDocumentation: address,
        },
        organisation: anOrganisation({ url: address, logoUrl: address }),
      })
      const { contactUrl, projectLink, progressReportLink, additionalDocumentation, imageLink } = project
      const { url, logoUrl } = organization as Record<string, unknown>
      return [contactUrl, projectLink, progressReportLink, additionalDocumentation, imageLink, url, logoUrl]
    }
    const good = 'https://tara.example/a'
    expect(addressesOf(good)).toEqual(Array(7).fill(good))
    for (const bad of [
      'javascript:alert(1)',
      'data:text/html,x',
      'JaVaScRiPt:1',
      'java\nscript:1',
      '//x.example',
      'file:///x',
    ]) {
      expect([bad, addressesOf(bad)]).toEqual([bad, Array(7).fill('')])
    }
  })

  it('has no remaining amount without a goal', () => {
    expect(recordOf({ project: { goal: undefined, remaining: undefined } as never })).not.toHaveProperty('remaining')
  })

  it('has a summary without totals of money, in both formats', () => {
    const { xml, json, summaryXml, summaryJson } = texts({})
    expect([xml, summaryXml].map((one) => one.startsWith('<project><active>'))).toEqual([true, true])
    expect([xml.includes('<funding>'), summaryXml.includes('<funding>')]).toEqual([true, false])
    expect([json.includes('"funding":'), summaryJson.includes('"funding":')]).toEqual([true, false])
    expect(JSON.parse(summaryJson)).toMatchObject({ id: aGraph().project.id, themes: {} })
  })

  it.each<[Changes, string]>([
    [{ project: { imageTitle: 'own', title: 'Wells' } }, 'own'],
    [{ project: { imageTitle: 'own' }, photos: [photo] }, 'own'],
    [{ photos: [photo] }, 'A well'],
    [{ project: { title: 'Wells' }, photos: [] }, 'Wells'],
  ])('of %j has a picture with the title %s', (changes, title) => {
    expect(recordOf(changes)).toMatchObject({ image: { title, id: 0 } })
  })
})

describe('an organisation', () => {
  it('has the texts of its version', () => {
    const organisation = {
      ...{ id: 7, name: 'Trust', totalProjects: 3, activeProjects: 2 },
      ...{ themes: [{ id: 't', name: 'Water' }], countries: [{ code: 'KE', name: 'Kenya' }] },
    }
    const { xml, json, ...others } = organisationTexts({ organisation: organisation as never, version: 4 })
    expect(others).toEqual({ id: 7, version: 4 })
    expect(xml).toMatch(/^<organization><activeProjects>2<\/activeProjects>.*<totalProjects>3<\/totalProjects>/)
    expect(JSON.parse(json)).toMatchObject({
      ...{ id: 7, totalProjects: 3, activeProjects: 2, themes: { theme: [{ id: 't', name: 'Water' }] } },
      countries: { country: [{ name: 'Kenya', iso3166CountryCode: 'KE' }] },
    })
  })
})
