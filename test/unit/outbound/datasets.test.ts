import { describe, expect, it } from 'vitest'
import { compareDatasets, wantedDatasets } from '../../../src/extensions/registry/datasets.js'
import type { RegisteredDataset } from '../../../src/extensions/registry/registry-client.js'
import {
  mustAsk,
  nameOfWanted,
  type RegistryRecord,
  registryProblems,
  registryStatus,
} from '../../../src/extensions/registry/registry-record.js'

const settings = {
  ...{
    url: 'https://registry.example/api/v1',
    publisherRef: 'US-EIN-123456789',
    baseUrl: 'https://giving.example',
    licence: 'cc-by',
  },
  ...({ visibility: 'public', prefix: undefined } as const),
}
const publisher = { id: 'p', metadata: { human_readable_name: 'Giving' } }
const paths = ['/iati/activities.xml', '/iati/activities-2.xml', '/iati/organisations.xml']
const wanted = wantedDatasets(settings, [...paths, '/iati/index.json', '/iati/bulk/activities.xml', '/data/a.csv'])

function registered(shortName: string, url: string, changes: object = {}): RegisteredDataset {
  const fields = {
    human_readable_name: 'X',
    source_type: 'secondary_source',
    visibility: 'public',
    licence_id: 'cc-by',
  }
  return { id: shortName, owner_organisation_id: 'p', metadata: { ...fields, short_name: shortName, url, ...changes } }
}

const compare = (...datasets: RegisteredDataset[]) =>
  compareDatasets(wanted, datasets, publisher, 'giving').map(({ state, id, fields, differences }) => ({
    ...{ state, id, name: fields.short_name, differs: differences.map(({ field }) => field) },
  }))

describe('what should be registered', () => {
  it('is each segment and the organisations, and nothing else', () => {
    expect(wanted.map(({ code, url }) => [code, url])).toEqual([
      ['activities', 'https://giving.example/iati/activities.xml'],
      ['activities-2', 'https://giving.example/iati/activities-2.xml'],
      ['organisations', 'https://giving.example/iati/organisations.xml'],
    ])
  })

  it('is found by its address, over http too and under any name, else by its short name', () => {
    expect(
      compare(
        registered('by-hand', 'http://giving.example/iati/activities.xml'),
        registered('giving-activities-2', 'https://old.example/2.xml', { licence_id: 'odc-by', visibility: 'private' }),
      ),
    ).toEqual([
      { state: 'different', id: 'by-hand', name: 'by-hand', differs: ['url'] },
      {
        ...{ state: 'different', id: 'giving-activities-2', name: 'giving-activities-2' },
        differs: ['url', 'licence_id', 'visibility'],
      },
      { state: 'missing', id: undefined, name: 'giving-organisations', differs: [] },
    ])
  })

  it('never takes the dataset of another file for its own', () => {
    const swapped = registered('giving-activities', 'https://giving.example/iati/activities-2.xml')
    expect(compare(swapped).map(({ state, id }) => [state, id])).toEqual([
      ['missing', undefined],
      ['registered', 'giving-activities'],
      ['missing', undefined],
    ])
  })
})

describe('the registry', () => {
  const at = new Date('2026-11-22T02:00:00Z')
  const later = (hours: number) => new Date(at.getTime() + hours * 3_600_000)
  const record = (changes: Partial<RegistryRecord> = {}): RegistryRecord => ({
    ...{ askedAt: at.toISOString(), wanted: 'w', isUnregistered: false },
    datasets: [{ state: 'registered', code: 'activities', differences: [] }],
    ...changes,
  })
  const missing = { state: 'missing', code: 'activities', differences: [] } as const
  const failure = (code: 'registry-unavailable' | 'registry-refused') => ({ failure: { code, message: 'no' } })

  it.each<[string, RegistryRecord | undefined, string, number, boolean]>([
    ['it never was', undefined, 'w', 0, true],
    ['nothing is new', record(), 'w', 999, false],
    ['a file or a setting is new', record(), 'x', 0, true],
    ['something is missing', record({ datasets: [missing] }), 'w', 0, true],
    ['it failed a moment ago', record(failure('registry-unavailable')), 'w', 0.9, false],
    ['it failed an hour ago', record(failure('registry-unavailable')), 'w', 1, true],
    ['a person did not fix it for an hour', record(failure('registry-refused')), 'w', 23, false],
    ['a person did not fix it for a day', record(failure('registry-refused')), 'w', 24, true],
    ['the failure was about other files', record(failure('registry-refused')), 'x', 0, true],
    ['an operator has unregistered', record({ isUnregistered: true, datasets: [missing] }), 'x', 99, false],
  ])('is asked or left alone when %s', (_case, known, name, hours, due) => {
    expect(mustAsk(known, name, later(hours))).toBe(due)
  })

  it('has another name for everything that decides what is registered, and where', () => {
    const changes = [
      ...[{}, { url: 'https://other.example/api/v1' }, { publisherRef: 'US-EIN-9' }, { prefix: 'x' }],
      ...[{ baseUrl: 'https://moved.example' }, { licence: 'cc-zero' }, { visibility: 'private' } as const],
    ]
    const names = changes.map((change) => nameOfWanted({ ...settings, ...change }, paths))
    expect(new Set([...names, nameOfWanted(settings, paths.slice(1))]).size).toBe(changes.length + 1)
    expect(nameOfWanted(settings, [...paths, '/data/b.csv'])).toBe(names[0])
  })

  it('misses what was published since it was asked', () => {
    const status = registryStatus(record(failure('registry-refused')), ['activities', 'activities-2'])
    expect(status).toMatchObject({ registered: ['activities'], missing: ['activities-2'], different: [] })
    expect(registryProblems(status)).toEqual([
      'the IATI registry: no',
      'not in the IATI registry: activities-2 (giving registry register)',
    ])
    expect(registryProblems({ ...status, missing: [] })).toEqual(['the IATI registry: no'])
  })
})
