import { readdir, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { withdrawBulkSet } from '../../../src/extensions/bulk/bulk-files.js'
import { bulkFolder, createBulkReader } from '../../../src/extensions/bulk/bulk-reader.js'
import { parseElement } from '../../../src/kernel/xml/reader.js'
import { filesOfJoined, readParts } from '../../../src/release/folder/joined-file.js'
import type { InlineOptions } from '../../../src/release/run.js'
import { createRun } from '../../../src/work/sql/runs.js'
import { commandStore } from '../../support/commands/command-store.js'
import { testPublisher } from '../../support/release/publishing.js'
import { insertProjects, loseProjects } from '../../support/store/catalogue.js'
import { testDatabase } from '../../support/store/database.js'
import { storeWells } from '../../support/store/wells-store.js'
import { mappingConfig } from '../../support/values/builders.js'

describe('bulk files', { shuffle: false }, async () => {
  const { store } = await testDatabase()
  const day = (number: number, hour = 2) => new Date(Date.UTC(2026, 10, number, hour))
  /** A publication; of the schedule, where nothing else is said. */
  const build = async (at: Date, options: Partial<InlineOptions> = {}, by = publisher) => {
    by.now = at
    const { error } = await by.publish({ trigger: 'schedule', ...options })
    expect(error).toBeUndefined()
  }
  const current = async () => (await createBulkReader(feedsDir).current()) ?? expect.fail('there is no set')
  const idsOf = async (name: string) => {
    const { token } = await current()
    const found = await createBulkReader(feedsDir).find(token, `${name}.xml`)
    const bytes = (await found?.file.identity.bytes()) ?? Buffer.alloc(0)
    expect(gunzipSync((await found?.file.gzip?.bytes()) ?? '').equals(bytes)).toBe(true)
    const root = parseElement(bytes)
    return { root, ids: root.children.map((record) => record.children.find((child) => child.name === 'id')?.text) }
  }

  const publisher = await testPublisher(store)
  const feedsDir = publisher.feedsDir
  await storeWells(store.db)
  await build(day(1))

  it.each([
    ['projects', ['2045', '2046', '2061']],
    ['projects-active', ['2045', '2061']],
    ['organizations', ['318', '319']],
    ['organizations-active', ['318', '319']],
    ['organizations-vetted', ['318']],
  ])('hold full records in id order (%s)', async (name, ids) => {
    const file = await idsOf(name)
    expect(file.ids).toEqual(ids)
    expect(file.root.name).toBe(name.split('-')[0])
    expect(file.root.attributes).toEqual(name.startsWith('projects') ? { numberFound: String(ids.length) } : {})
  })

  it('are built by the first run of a day, and by a run that is forced', async () => {
    const first = await current()
    await store.db.query(`update project set title = 'Renamed' where id = 2046`)
    await build(day(1, 12))
    expect((await current()).token).toBe(first.token)
    await build(day(1, 13), { force: true })
    expect((await current()).token).not.toBe(first.token)
  })

  it('are built by a run that a person asked for, where a record has changed', async () => {
    const before = await current()
    await store.db.query(`update project set title = 'Renamed for good' where id = 2046`)
    await build(day(1, 14), { trigger: 'schedule' })
    expect((await current()).token).toBe(before.token)
    await build(day(1, 14), { trigger: 'manual' })
    const changed = await current()
    expect(changed.token).not.toBe(before.token)
    await build(day(1, 15), { trigger: 'manual' })
    expect((await current()).token).toBe(changed.token)
  })

  it('are built by the first run of a publisher', async () => {
    const before = await current()
    const reportingOrg = { ...mappingConfig.reportingOrg, ref: 'GB-CHC-202918' }
    const other = await testPublisher(store, { feedsDir, mappingConfig: { ...mappingConfig, reportingOrg } })
    await build(day(1, 16), {}, other)
    const after = await current()
    expect(after.token).not.toBe(before.token)
    await build(day(1, 17), {}, other)
    expect((await current()).token).toBe(after.token)
    await build(day(1, 18))
    expect((await current()).token).not.toBe(after.token)
  })

  it('are offered no longer once the demo is removed, until they are built anew', async () => {
    const { token } = await current()
    await withdrawBulkSet({ store, feedsDir })
    const reader = createBulkReader(feedsDir)
    expect(await reader.current()).toBeUndefined()
    expect(await reader.find(token, 'projects.xml')).toBeDefined()
    await build(day(1, 19))
    expect((await current()).token).not.toBe(token)
  })

  const inode = async (address: string) => {
    const { id } = await current()
    return (await stat(path.join(bulkFolder(feedsDir).releases, id, address))).ino
  }
  /** The files on the disk that a bulk file is joined from. */
  const layersOf = async (name: string) => {
    const { id } = await current()
    const { joined } = await readParts(path.join(bulkFolder(feedsDir).releases, id))
    const file = joined[`/${name}.xml`] ?? expect.fail(`${name} is not joined`)
    return await Promise.all(filesOfJoined(file).map(inode))
  }

  it('are carried over where no record changed', async () => {
    await store.db.query(`update project set title = 'Renamed again' where id = 2046`)
    const [active, all] = [await layersOf('projects-active'), await layersOf('projects')]
    await build(day(2))
    expect(await layersOf('projects-active')).toEqual(active)
    expect(await layersOf('projects')).not.toEqual(all)
  })

  it('are made of blocks, of which those without a changed record stay where they are', async () => {
    const added = Array.from({ length: 20 }, (_, index) => 3000 + index)
    await insertProjects(
      store.db,
      added.map((id) => ({ id })),
    )
    await build(day(2, 3), { trigger: 'manual' })
    const ids = ['2045', '2046', '2061', ...added.map(String)]
    expect((await idsOf('projects')).ids).toEqual(ids)
    const before = await layersOf('projects')
    await store.db.query(`update project set title = 'The first' where id = 2045`)
    await build(day(2, 4), { trigger: 'manual' })
    const after = await layersOf('projects')
    expect(after.filter((layer) => before.includes(layer)).length).toBeGreaterThan(0)
    expect(after.filter((layer) => !before.includes(layer)).length).toBe(1)
    const { root, ids: changed } = await idsOf('projects')
    expect(changed).toEqual(ids)
    expect(root.attributes).toEqual({ numberFound: '23' })
    expect(root.children.at(0)?.children.find(({ name }) => name === 'title')?.text).toBe('The first')
    await loseProjects(store, added)
    await build(day(2, 5), { trigger: 'manual' })
    expect((await idsOf('projects')).ids).toEqual(['2045', '2046', '2061'])
  })

  it('of an earlier version, which are whole, are carried over and made of blocks when a record changes', async () => {
    const { id } = await current()
    const directory = path.join(bulkFolder(feedsDir).releases, id)
    for (const { name } of (await current()).files) {
      const found = await createBulkReader(feedsDir).find((await current()).token, `${name}.xml`)
      const bytes = (await found?.file.identity.bytes()) ?? Buffer.alloc(0)
      await writeFile(path.join(directory, `${name}.xml`), bytes)
      await writeFile(path.join(directory, `${name}.xml.gz`), (await found?.file.gzip?.bytes()) ?? '')
    }
    for (const name of ['layers', 'layers.json', 'parts.json'])
      await rm(path.join(directory, name), { recursive: true })
    const { ids } = await idsOf('projects')
    const whole = await inode('projects.xml')
    await build(day(2, 6), { force: true })
    expect(await inode('projects.xml')).toBe(whole)
    expect((await idsOf('projects')).ids).toEqual(ids)
    await store.db.query(`update project set title = 'Renamed once more' where id = 2046`)
    await build(day(2, 7), { trigger: 'manual' })
    expect((await idsOf('projects')).ids).toEqual(ids)
    await expect(inode('projects.xml')).rejects.toThrow('ENOENT')
    expect(await inode('projects-active.xml')).toBeGreaterThan(0)
  })

  it('keep their addresses for two days after the next set', async () => {
    const old = await current()
    await build(day(3))
    await build(day(4))
    expect(await createBulkReader(feedsDir).find(old.token, 'projects.xml')).toBeDefined()
  })

  it('are not replaced by a run that is too late, and leave no draft when they are interrupted', async () => {
    const late = await createRun(store.db, { trigger: 'manual', at: day(4) })
    await store.db.query(`update project set title = 'Renamed before the late run' where id = 2046`)
    await build(day(4, 3), { trigger: 'manual' })
    const { token } = await current()
    await build(day(9), { runId: late.id })
    expect((await current()).token).toBe(token)
    publisher.now = day(10)
    await expect(publisher.publish({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'aborted' })
    expect((await current()).token).toBe(token)
    expect(await readdir(bulkFolder(feedsDir).drafts)).toEqual([])
  })

  it('are not read where no record changed, until a statement leaves its mark', async () => {
    const fingerprint = async () => (await current()).files.find(({ name }) => name === 'projects')?.fingerprint
    // The mark is removed, as if there had been no change.
    await store.db.query(`update wire_record set version = version + 1 where project_id = 2045`)
    await store.db.query(`update project_version set version = version + 1 where project_id = 2045`)
    await store.db.query('delete from content_change')
    const before = await fingerprint()
    await build(day(5))
    expect(await fingerprint()).toBe(before)
    await store.db.query(`update wire_record set mapping = mapping where project_id = 2045`)
    await build(day(5, 3), { trigger: 'manual' })
    expect(await fingerprint()).not.toBe(before)
  })

  it('are found by their exact address only', async () => {
    const reader = createBulkReader(feedsDir)
    const { token } = await current()
    for (const [wanted, file] of [
      [token.slice(1), 'projects.xml'],
      [token, 'manifest.json'],
      [token, '../manifest.json'],
      ['', 'projects.xml'],
    ] as const) {
      expect(await reader.find(wanted, file)).toBeUndefined()
    }
  })
})

describe('the bulk files of an installation', { shuffle: false }, async () => {
  const { store, feedsDir, json } = await commandStore({ REPORTING_ORG_REF: 'US-EIN-123456789' })
  await storeWells(store.db)

  const text = async () => {
    const reader = createBulkReader(feedsDir)
    const { token } = (await reader.current()) ?? expect.fail('there is no set')
    const found = await reader.find(token, 'projects.xml')
    return { token, titles: String(await found?.file.identity.bytes()).match(/<title>.*?<\/title>/g) }
  }

  it('are built anew by each `giving publish` after a change, and by no other', async () => {
    const publish = async () => expect(await json('publish --inline')).toMatchObject({ code: 0 })
    await publish()
    const first = await text()
    await store.db.query(`update project set title = 'Renamed by hand' where id = 2046`)
    await publish()
    const second = await text()
    expect(second.titles).toContain('<title>Renamed by hand</title>')
    expect(first.titles).not.toContain('<title>Renamed by hand</title>')
    await publish()
    expect(await text()).toEqual(second)
  })
})
