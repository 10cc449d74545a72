import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { defaultWriterRole, grantWriterRole } from '../../../src/platform/database/writer-role.js'
import { createIndexReader } from '../../../src/release/read/activity-index.js'
import { commandStore } from '../../support/commands/command-store.js'

const ref = 'GB-CHC-1164883'

/** A store with a folder, and what a person does there. */
async function newStore() {
  const ours = await commandStore({ REPORTING_ORG_REF: ref, REPORTING_ORG_TYPE: '22' })
  const { store, folder, run } = ours
  const json = async (...line: Parameters<typeof ours.json>) => (await ours.json(...line)).answer
  await grantWriterRole(store.db, defaultWriterRole, new Date(0))
  return {
    ...{ folder, run, json },
    /** The problems of an import of these projects, by id. */
    importing: async (...projects: (readonly [id: number, identifier: string])[]) => {
      const file = path.join(folder, 'projects.csv')
      const rows = projects.map(([id, identifier]) => `${id},Wells ${id},active,100,2026-01-05,${identifier}`)
      await writeFile(file, `${['id,title,status,goal,approvedDate,iatiIdentifier', ...rows].join('\n')}\n`)
      const { problems } = await json(`import ${file}`)
      return (problems as { recordId: string; field: string; expected: string; got?: string }[]).map(
        ({ recordId, field, expected, got }) => `${recordId} ${field}: ${field === 'record' ? got : expected}`,
      )
    },
    /** What the database says to the platform's own SQL. */
    sql: async (statement: string) => {
      try {
        await store.transaction(async (db) => {
          await db.query(`set local role ${defaultWriterRole}`)
          await db.query(statement)
        })
        return 'done'
      } catch (error) {
        return error instanceof Error ? error.message : String(error)
      }
    },
    /** A statement of the service itself, of which the rules for others do not ask. */
    service: (statement: string) => store.db.query(statement),
    /** The project of an activity, looked up as the address of one activity does. */
    projectOf: async (identifier: string) => {
      const index = await createIndexReader()(await ours.live())
      const row = index?.rowOf(identifier)
      return row === undefined ? undefined : index?.entry(row).project
    },
    /** Identifiers of the live release with the publisher's earlier ones. */
    published: async () => {
      const text = await ours.read('/iati/activities.xml')
      return [...text.matchAll(/<iati-identifier>([^<]+).*?<activity-status/gs)].map(([record, identifier]) =>
        [identifier, ...[...record.matchAll(/ref="([^"]+)" type="B1"/g)].map(([, one]) => one)].join(' '),
      )
    },
  }
}

describe('an identifier that a project brings along', { shuffle: false }, () => {
  let ours: Awaited<ReturnType<typeof newStore>>
  beforeAll(async () => {
    ours = await newStore()
  })

  it('is taken from a file, and refused for one row where the standard or another project forbids it', async () => {
    const shape =
      'an identifier such as GB-CHC-1164883-WELLS: at most 255 characters of ASCII, no white space and none of / & | ? < > " \\'
    const ofPublisher = `an identifier that begins with ${ref}- (giving publisher change tells of another identifier of the publisher)`
    expect(
      await ours.importing(
        ...([
          [1, `${ref}-WELLS`],
          [2, 'GB-COH-03000001-WELLS'],
          [3, `${ref}-a/b`],
          [4, `${ref}-WELLS`],
          [5, `${ref}-6`],
          [6, ''],
          [7, ref],
          [8, `${ref}-a b`],
          [9, `${ref}-${'x'.repeat(255)}`],
          [10, `${ref}-`],
          [11, `${ref}WELLS`],
          [12, `${ref}-<b>`],
        ] as const),
      ),
    ).toEqual([
      `2 iatiIdentifier: ${ofPublisher}`,
      `3 iatiIdentifier: ${shape}`,
      '4 iatiIdentifier: an identifier of its own, and project 1 has this one',
      `7 iatiIdentifier: ${ofPublisher}`,
      ...[8, 9, 10].map((id) => `${id} iatiIdentifier: ${shape}`),
      `11 iatiIdentifier: ${ofPublisher}`,
      `12 iatiIdentifier: ${shape}`,
    ])
  })

  it('is written with plain SQL by the same rules', async () => {
    const insert = (id: number, identifier: string) =>
      ours.sql(`insert into project (id, title, active, status, goal, approved_date, iati_identifier)
        values (${id}, 'Wells ${id}', true, 'active', 100, '2026-01-05', '${identifier}')`)
    expect(await insert(20, `${ref}-SQL`)).toBe('done')
    expect(await insert(21, `${ref}-WELLS`)).toMatch(
      /^project.iati_identifier: expected an identifier of its own, and project 1 has this one, got /,
    )
    for (const wrong of [`${ref}-a?b`, `${ref}-a\u00a0b`, 'WELLS', `${ref}-`]) {
      expect(await insert(21, wrong)).toMatch(/^project.iati_identifier: expected an identifier such as GB-CHC-/)
    }
    // Nobody has published yet, so the database does not know who will.
    expect(await insert(22, 'GB-COH-03000001-SQL')).toBe('done')
  })

  it('is the one that is published; a project whose own would be the same is held', async () => {
    expect(await ours.json('publish --inline')).toMatchObject({ state: 'published', held: 2 })
    expect(await ours.published()).toEqual([`${ref}-WELLS`, `${ref}-6`, `${ref}-SQL`])
    expect(await Promise.all(['WELLS', '6', '5'].map((end) => ours.projectOf(`${ref}-${end}`)))).toEqual([
      1,
      5,
      undefined,
    ])
    const { stdout } = await ours.run('held')
    expect(stdout).toMatch(
      /identifier-taken .*expected an identifier that no other project has, got \S+-6 of project 5/s,
    )
    expect(stdout).toMatch(/identifier-foreign .*expected it to begin with GB-CHC-1164883-, got GB-COH-03000001-SQL/s)
    expect(await ours.sql(`update project set iati_identifier = '${ref}-22a' where id = 22`)).toBe('done')
    expect(await ours.importing([6, `${ref}-SIX`])).toEqual([])
    expect(await ours.json('publish --inline')).toMatchObject({ state: 'published', held: 0 })
    expect(await ours.published()).toEqual(['WELLS', '6', 'SIX', 'SQL', '22a'].map((end) => `${ref}-${end}`))
  })

  it('that is given up by its project is free for the one that gets it by default', async () => {
    expect(await ours.importing([45, `${ref}-46`], [46, ''], [48, ''])).toEqual([])
    const insert = `insert into project (id, title, active, status, goal, approved_date, iati_identifier)
      values (47, 'Wells 47', true, 'active', 100, '2026-01-05', '${ref}-48')`
    expect(await ours.sql(insert)).toBe('done')
    await ours.service(`update project set approved_date = '0044-03-15 BC' where id in (45, 47)`)
    expect(await ours.json('publish --inline')).toMatchObject({ held: 4 })
    expect(await ours.importing([45, `${ref}-OURS`])).toEqual([])
    expect(await ours.sql('delete from project where id = 47')).toBe('done')
    expect(await ours.json('publish --inline')).toMatchObject({ held: 0 })
    expect(await ours.published()).toEqual(expect.arrayContaining(['46', '48', 'OURS'].map((end) => `${ref}-${end}`)))
  })

  it('never changes once it is published, nor does the default one', async () => {
    expect(await ours.importing([30, ''])).toEqual([])
    expect(await ours.json('publish --inline')).toMatchObject({ held: 0 })
    const stays = 'a published identifier never changes'
    expect(await ours.importing([1, `${ref}-OTHER`], [30, `${ref}-THIRTY`])).toEqual([
      `1 iatiIdentifier: ${ref}-WELLS, under which project 1 was published: ${stays}`,
      `30 iatiIdentifier: ${ref}-30, under which project 30 was published: ${stays}`,
    ])
    expect(await ours.importing([1, '-'])).toEqual([expect.stringContaining(stays)])
    expect(await ours.importing([1, ''], [30, `${ref}-30`])).toEqual([])
    for (const value of [`'${ref}-OTHER'`, 'null']) {
      expect(await ours.sql(`update project set iati_identifier = ${value} where id = 20`)).toContain(stays)
    }
    expect(await ours.importing([31, `${ref}-30`], [32, `${ref}-WELLS`])).toEqual([
      '31 iatiIdentifier: an identifier of its own, and project 30 has this one',
      '32 iatiIdentifier: an identifier of its own, and project 1 has this one',
    ])
    expect(
      await ours.sql(`insert into project (id, title, active, status, iati_identifier)
      values (40, 'X', true, 'active', 'GB-COH-03000001-40')`),
    ).toContain(`begins with ${ref}- (giving publisher change`)
  })

  it('stays after the publisher has changed, whose earlier identifier is an other-identifier', async () => {
    const second = { REPORTING_ORG_REF: 'GB-COH-03000001' }
    expect((await ours.run(`publisher change --from ${ref} --to GB-COH-03000001 --confirm`)).code).toBe(0)
    expect(await ours.importing([50, 'GB-COH-03000001-NEW'], [51, `${ref}-OLD`], [52, 'GB-COH-3-X'])).toEqual([
      expect.stringContaining(`begins with ${ref}- or GB-COH-03000001- (`),
    ])
    expect(await ours.json('publish --inline', second)).toMatchObject({ state: 'published', held: 0 })
    expect(await ours.published()).toEqual([
      ...['WELLS', '6', 'SIX', 'SQL', '22a', '30', 'OURS', '46', '48'].map((end) => `${ref}-${end} ${ref}`),
      'GB-COH-03000001-NEW',
      `${ref}-OLD ${ref}`,
    ])
  })

  it('goes with an export', async () => {
    const second = { REPORTING_ORG_REF: 'GB-COH-03000001' }
    const other = await newStore()
    const folder = path.join(ours.folder, 'export')
    expect((await ours.run(`export ${folder}`, second)).code).toBe(0)
    expect(await other.run(`import ${folder}`, second)).toMatchObject({ code: 0 })
    expect(await other.json('publish --inline', second)).toMatchObject({ state: 'published', held: 0 })
    expect(await other.published()).toEqual(await ours.published())
    expect(await other.importing([50, `${ref}-OTHER`])).toEqual([expect.stringContaining('GB-COH-03000001-NEW, under')])
  })
})
