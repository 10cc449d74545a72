import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { createBulkReader } from '../../../src/extensions/bulk/bulk-reader.js'
import { ifThere } from '../../../src/kernel/system-errors.js'
import { readParts } from '../../../src/release/folder/joined-file.js'
import { faultsOf } from '../../support/release/published-folder.js'
import { type Publisher, testPublisher } from '../../support/release/publishing.js'
import { insertProjects } from '../../support/store/catalogue.js'
import { testDatabase } from '../../support/store/database.js'

const projects = 200

/** A release of several segments, each of several blocks of activities. */
async function publishSegments() {
  const { store } = await testDatabase()
  const publisher = await testPublisher(store, { segmentBytes: 150_000 })
  await insertProjects(
    store.db,
    Array.from({ length: projects }, (_, index) => ({ id: index + 1 })),
  )
  expect((await publisher.publish()).state).toBe('published')
  const publishChanges = async (condition: string, options: { force?: boolean } = {}) => {
    await store.db.query(`update project set title = title || '!' where ${condition}`)
    publisher.now = new Date(publisher.now.getTime() + 86_400_000)
    return await publisher.publish(options)
  }
  return { store, publisher, publishChanges }
}

const { store, publisher, publishChanges } = await publishSegments()

/** Each file of activities as the store has it, between the first line and the last. */
async function segmentsOfStore(): Promise<Record<string, string>> {
  const { rows } = await store.db.query<{ segment: number; text: string }>(
    `select segment, string_agg(text || E'\\n', '' order by project_id) as text
      from rendering where text is not null group by segment order by segment`,
  )
  return Object.fromEntries(
    rows.map(({ segment, text }) => [segment === 1 ? '/iati/activities.xml' : `/iati/activities-${segment}.xml`, text]),
  )
}

async function publishedSegments(): Promise<Record<string, string>> {
  const { files } = await publisher.manifest()
  const segments = files.filter(({ path }) => /^\/iati\/activities(-\d+)?\.xml$/.test(path))
  return Object.fromEntries(
    await Promise.all(
      segments.map(async ({ path }) => [
        path,
        (await publisher.read(path)).split('\n').slice(2, -2).join('\n').concat('\n'),
      ]),
    ),
  )
}

/** The full records of all projects in the newest bulk file, and in its twin. */
async function bulkRecords(): Promise<string[]> {
  const reader = createBulkReader(publisher.feedsDir)
  const { token } = (await reader.current()) ?? expect.fail('there are no bulk files')
  const { file } = (await reader.find(token, 'projects.xml')) ?? expect.fail('there is no file of projects')
  const text = await file.identity.text()
  expect(gunzipSync((await file.gzip?.bytes()) ?? '').toString()).toBe(text)
  return text.split('\n').slice(2, -2)
}

async function recordsOfStore(): Promise<string[]> {
  const { rows } = await store.db.query<{ xml: string }>(`select xml from wire_record order by project_id`)
  return rows.map(({ xml }) => xml)
}

const liveFolder = async (of: Publisher) => path.join(of.feedsDir, 'releases', (await of.live()).id)

async function bytesUnder(directory: string): Promise<number> {
  const files = (await readdir(directory, { recursive: true, withFileTypes: true })).filter((file) => file.isFile())
  const sizes = await Promise.all(
    files.map(async ({ parentPath, name }) => (await stat(path.join(parentPath, name))).size),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

describe('night after night', () => {
  it('files are what the store has, whichever blocks were written when', async () => {
    const whole = await bytesUnder(path.join(await liveFolder(publisher), 'iati'))
    for (let night = 1; night <= 14; night++) {
      if (night === 5) await insertProjects(store.db, [{ id: projects + 1 }, { id: projects + 40 }])
      const { state, error } = await publishChanges(`id % 50 = ${night} or id = ${100 + night}`)
      expect([night, state, error]).toEqual([night, 'published', undefined])
      expect(await publishedSegments()).toEqual(await segmentsOfStore())
      expect(await bulkRecords()).toEqual(await recordsOfStore())
      expect(await faultsOf(publisher.feedsDir, store)).toEqual([])
      const directory = await liveFolder(publisher)
      for (const [segment, { identity }] of Object.entries((await readParts(directory)).joined)) {
        const layers = identity.flatMap((part) => (typeof part === 'string' ? [] : [part[0]]))
        if (segment.startsWith('/iati/activities')) expect(new Set(layers).size).toBeLessThanOrEqual(9)
      }
      const layered = await bytesUnder(path.join(directory, 'layers'))
      expect(layered).toBeLessThan(4 * whole)
    }
    // Earlier releases are gone, and with them nothing that the live one has.
    expect((await publisher.names('releases')).length).toBeLessThan(5)
  })

  it('no segment is taken over by a version that knows no layers, which compares fingerprints of the store', async () => {
    const { rows } = await store.db.query<{ fingerprint: string }>(
      `select summary ->> 'fingerprint' as fingerprint from segment_summary`,
    )
    expect(rows.length).toBeGreaterThan(1)
    const published = (await publisher.manifest()).files.map(({ fingerprint }) => fingerprint)
    for (const { fingerprint } of rows) {
      expect([published.includes(fingerprint), published.includes(`blocks ${fingerprint}`)]).toEqual([false, true])
    }
  })

  it('a segment in which most changes is a file of its own again', async () => {
    const onDisk = async (segment: string) => await ifThere(stat(path.join(await liveFolder(publisher), segment)))
    expect(await onDisk('/iati/activities-2.xml')).toBeUndefined()
    const { rows } = await store.db.query<{ ids: number[] }>(
      'select array_agg(project_id) as ids from rendering where segment = 2',
    )
    await publishChanges(`id in (${rows[0]?.ids})`)
    expect((await onDisk('/iati/activities-2.xml'))?.size).toBeGreaterThan(10_000)
    expect(await publishedSegments()).toEqual(await segmentsOfStore())
    await publishChanges('id = 60')
    expect(await publishedSegments()).toEqual(await segmentsOfStore())
    expect(await faultsOf(publisher.feedsDir, store)).toEqual([])
  })

  it('a layer that was broken on the disk is not published again, and a forced run writes it anew', async () => {
    await publishChanges('id = 61')
    const { id } = await publisher.live()
    const layers = path.join(await liveFolder(publisher), 'layers')
    const files = (await readdir(layers, { recursive: true, withFileTypes: true })).filter(
      ({ name }) => name.endsWith('activities') || name.endsWith('.xml'),
    )
    for (const { parentPath, name } of files) {
      const layer = path.join(parentPath, name)
      const text = await readFile(layer, 'utf8')
      await rm(layer)
      await writeFile(layer, text.replaceAll('Project', 'Pr0ject'))
    }
    const { state, error } = await publishChanges('id = 62')
    expect([state, error?.code]).toEqual(['failed', 'release-corrupt'])
    expect(error?.message).toContain('giving publish --force')
    expect((await publisher.live()).id).toBe(id)
    publisher.now = new Date(publisher.now.getTime() + 86_400_000)
    expect((await publisher.publish({ force: true })).state).toBe('published')
    const published = await publishedSegments()
    for (const [segment, text] of Object.entries(await segmentsOfStore())) {
      if (text.includes('Project 62!')) expect(published[segment]).toBe(text)
    }
  })
})
