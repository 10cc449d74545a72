import { describe, expect, it } from 'vitest'
import { descriptions } from '../../../src/extensions/descriptions/extension.js'
import { noNotices } from '../../../src/kernel/notice.js'
import { addedFiles } from '../../../src/release/plan/added-files.js'
import { activityIndex, bulkActivities } from '../../../src/release/plan/all-activities.js'
import type { PlannedFile } from '../../../src/release/plan/planned-file.js'
import { stampedEnvelope } from '../../../src/release/plan/stamped-envelope.js'
import { mappingConfig } from '../../support/values/builders.js'

const generated = '2026-11-21T08:00:00Z' as Parameters<typeof stampedEnvelope>[1]
const stamped = stampedEnvelope('iati-activities', generated)
const segment = (nth: number, changes: Partial<PlannedFile> = {}): PlannedFile => ({
  ...{ path: `/iati/activities-${nth}.xml`, mediaType: 'application/xml', records: nth, fingerprint: `f${nth}` },
  ...{ notices: { ...noNotices, warnings: nth }, content: { kind: 'texts', texts: async function* () {} }, ...changes },
})
const [one, two] = [segment(1), segment(2)]

describe('all activities in one file', () => {
  it('are the same bytes as a single activity file', () => {
    expect(bulkActivities([one], stamped)[0]).toEqual({
      ...one,
      path: '/iati/bulk/activities.xml',
      content: { kind: 'same', as: one.path },
    })
  })

  it('are the records of several files, one after the other', () => {
    const [{ content, fingerprint, ...bulk } = one] = bulkActivities([one, two], stamped)
    expect(bulk).toEqual({
      ...{ path: '/iati/bulk/activities.xml', mediaType: 'application/xml', records: 3 },
      notices: { ...noNotices, warnings: 3 },
    })
    expect(content).toMatchObject({
      ...{ kind: 'joined', parts: [one.path, two.path] },
      envelope: { stamp: ' generated-datetime="2026-11-21T08:00:00Z"' },
    })
    expect(JSON.stringify(content)).toContain('<iati-activities ')
    expect(JSON.stringify(content)).toContain(' generated-datetime=\\"2026-11-21T08:00:00Z\\"')
    expect(fingerprint).toMatch(/^[A-Za-z0-9+/]{43}=$/)
    const changed = [segment(2, { path: '/other.xml' }), segment(2, { fingerprint: 'other' })]
    const others = changed.map((second) => bulkActivities([one, second], stamped)[0]?.fingerprint)
    expect(new Set([fingerprint, ...others]).size).toBe(3)
  })

  it('are no file where an organisation file is all that is published', () => {
    expect(bulkActivities([], stamped)).toEqual([])
  })
})

describe('the index of all activities', () => {
  it('is made from the activity files, and changes with each of them', () => {
    const envelope = { head: 'head', tail: 'tail' }
    const { fingerprint, ...index } = activityIndex([one, two], envelope)
    expect(index).toEqual({
      ...{ path: '/iati/index.json', mediaType: 'application/json; charset=utf-8', records: 3, notices: noNotices },
      content: { kind: 'index', files: [one, two], envelope },
    })
    expect(fingerprint).toMatch(/^[A-Za-z0-9+/]{43}=$/)
    const changed = [segment(2, { path: '/other.xml' }), segment(2, { fingerprint: 'other' })]
    const others = changed.map((second) => activityIndex([one, second], envelope).fingerprint)
    expect(new Set([fingerprint, ...others]).size).toBe(3)
  })
})

describe('the descriptions of a release', () => {
  const added = (files: readonly PlannedFile[], publicKey?: string) =>
    addedFiles([descriptions.addFiles], publicKey, mappingConfig, files, { countries: [] })
  const summary = (found: readonly PlannedFile[]) =>
    found.map(({ path, mediaType, records }) => [path, mediaType, records])
  const written = [
    ['/data/datapackage.json', 'application/json; charset=utf-8', 1],
    ['/data/catalog.jsonld', 'application/ld+json', 1],
    ['/data/catalog.ttl', 'text/turtle; charset=utf-8', 1],
    ['/data/catalog.rdf', 'application/rdf+xml; charset=utf-8', 1],
    ['/llms.txt', 'text/markdown; charset=utf-8', 1],
  ]

  it('are documents that change with their text', async () => {
    const found = await added([one])
    expect(summary(found)).toEqual(written)
    const more = await added([one, two])
    for (const [index, { fingerprint, content, notices }] of found.entries()) {
      expect(notices).toBe(noNotices)
      expect(fingerprint).toMatch(/^[A-Za-z0-9+/]{43}=$/)
      expect(more[index]?.fingerprint).not.toBe(fingerprint)
      if (content.kind !== 'texts') throw new Error(`a document is a text, not ${content.kind}`)
      const texts: Buffer[] = []
      for await (const batch of content.texts(undefined as never)) texts.push(...batch)
      expect(Buffer.concat(texts).toString()).toContain('giving')
    }
  })

  it('have the public key of signed releases', async () => {
    expect(summary(await added([one], 'PEM'))).toEqual([
      ...written,
      ['/.well-known/giving-iati-key.pem', 'application/x-pem-file', 1],
    ])
  })
})
