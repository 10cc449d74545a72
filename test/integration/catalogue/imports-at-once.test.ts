import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { type ImportOptions, importFiles } from '../../../src/catalogue/import/import.js'
import { kinds } from '../../../src/catalogue/import/kinds.js'
import { listImports } from '../../../src/catalogue/sql/imports.js'
import { listDifferences } from '../../../src/money/sql/books-check.js'
import { exported, fillWithTemplates, importAndUndo, importing, takeBack } from '../../support/catalogue/import-undo.js'
import { transpileProgram } from '../../support/commands/cli.js'
import { printed } from '../../support/commands/command-line.js'
import { publishedBytes } from '../../support/release/published-bytes.js'
import { testPublisher } from '../../support/release/publishing.js'
import { testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const folder = await temporaryFolder()

describe('imports and taking them back in random order', () => {
  it('leave the store and the published files as they were', async () => {
    const { store } = await testDatabase()
    await fillWithTemplates(store, folder)
    const publisher = await testPublisher(store)
    await publisher.publish()
    const before = { store: await exported(store), files: await publishedBytes(publisher.feedsDir) }
    const sum = { outOfOrder: 0, refused: 0 }
    const written = new Set<string>()
    for (let seed = 1; seed <= 10; seed++) {
      const counts = await importAndUndo(store, folder, seed, 14)
      for (const name of counts.writing) written.add(name)
      sum.outOfOrder += counts.outOfOrder
      sum.refused += counts.refused
      expect(await exported(store), `seed ${seed}`).toEqual(before.store)
      expect(await store.snapshot((db) => listDifferences(db, 3))).toEqual([])
    }
    // The sequences did what they are for.
    expect([...written].sort()).toEqual(
      [...kinds.map(({ name }) => `${name}.ndjson`), 'page.json', 'iati.xml', 'organisations.xml'].sort(),
    )
    expect(sum.outOfOrder).toBeGreaterThan(1)
    expect(sum.refused).toBeGreaterThan(1)
    await publisher.publish()
    expect(await publishedBytes(publisher.feedsDir)).toEqual(before.files)
  })
})

describe('imports at the same time', async () => {
  const { store, url } = await testDatabase()
  const environment = { DATABASE_URL: url, GIVING_DATA_DIR: folder, LOG_LEVEL: 'silent' }

  const giving = (line: string, code = 0) => printed(line, environment, code)

  async function importing(name: string, text: string): Promise<number> {
    await writeFile(path.join(folder, name), text)
    return Number((await giving(`import ${path.join(folder, name)}`)).import)
  }

  /** A command in a process of its own. */
  async function started(line: string) {
    const program = path.join(await transpileProgram(), 'src/cli.js')
    const child = spawn(process.execPath, [program, ...line.split(' '), '--json'], {
      env: { ...process.env, ...environment },
    })
    const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    return { stdin: child.stdin, ended: ended.then(([stdout, stderr, [code]]) => ({ stdout, stderr, code })) }
  }

  async function whenFound(sql: string): Promise<void> {
    while ((await store.db.query(sql)).rowCount === 0) await sleep(20)
  }

  it('wait while another is taken back, so that both can be', async () => {
    const files = ['boats.csv', 'retitled.csv'].map((name) => path.join(folder, name))
    await importing('projects.csv', 'id,title,status\n301,Nets,active\n302,Pumps,active\n')
    await writeFile(files[0] ?? '', 'id,name,sector\nboats,Boats,31391\n')
    await writeFile(files[1] ?? '', 'id,title,status\n302,Old pumps,active\n')
    const boats = Number((await giving(`import ${files.join(' ')}`)).import)
    const wanting = await importing('wanting.ndjson', '{"id":301,"title":"Nets","status":"active","themes":["boats"]}')
    const without = path.join(folder, 'without.ndjson')
    await writeFile(without, '{"id":301,"title":"Nets","status":"active","themes":[]}')
    const [undoing, clearing] = await store.transaction(async (db) => {
      await db.query('select from project where id = 302 for update')
      const undo = await started(`imports undo ${boats}`)
      await whenFound(`select from pg_stat_activity where wait_event_type = 'Lock' and query like '%undo_import%'`)
      const clear = await started(`import ${without} --kind projects`)
      await Promise.race([clear.ended, whenFound(`select from pg_locks where locktype = 'advisory' and not granted`)])
      return [undo, clear]
    })
    expect(await undoing.ended).toMatchObject({ code: 1, stdout: expect.stringContaining('project_theme') })
    const cleared = await clearing.ended
    expect(cleared).toMatchObject({ code: 0 })
    for (const id of [JSON.parse(cleared.stdout).import, wanting, boats]) await giving(`imports undo ${id}`)
  })

  it('that ran beside each other stay for the one that wrote last', async () => {
    await importing('projects.csv', 'id,title,status\n303,Nets,active\n')
    const long = await started('import - --kind projects')
    await whenFound(`select from import where state = 'running'`)
    const [first] = (await giving('imports list --limit 1')).imports as { id: number }[]
    const files = ['kayaks.csv', 'kayaks.ndjson'].map((name) => path.join(folder, name))
    await writeFile(files[0] ?? '', 'id,name,sector\nkayaks,Kayaks,31391\n')
    await writeFile(files[1] ?? '', '{"id":303,"title":"Nets","status":"active","themes":["kayaks"]}')
    const second = Number((await giving(`import ${files[0]} ${files[1]}`)).import)
    long.stdin.end('{"id":303,"title":"Nets","status":"active","themes":[]}')
    expect(await long.ended).toMatchObject({ code: 0 })
    expect(await giving(`imports undo ${second}`, 1)).toMatchObject({ obstacles: [{ byImport: first?.id }] })
    for (const id of [first?.id, second]) await giving(`imports undo ${id}`)
  })
})

describe('a large file of single gifts that was read whole', { shuffle: false }, async () => {
  const rows = 5_000
  const long = 'G'.repeat(190)
  const gift = (at: number, amount = '5.00') =>
    `${at % 2 === 0 ? 'one' : 'two'},2025-0${1 + (at % 9)}-05,${amount},USD,${long}${at}`
  const textOf = (gifts: readonly string[]) => ['project,date,amount,currency,reference', ...gifts, ''].join('\n')
  const all = Array.from({ length: rows }, (_, at) => gift(at))
  const { store } = await testDatabase()
  const file = await fileOf('large-gifts.csv', textOf(all))
  const projects = await fileOf('projects.csv', 'externalId,title,status\none,Wells,active\ntwo,Desks,active\n')
  await importFiles(store, [projects], importing)

  async function fileOf(name: string, text: string): Promise<string> {
    const file = path.join(folder, name)
    await writeFile(file, text)
    return file
  }

  /** What an import of the file says, and whether it read it. */
  async function again(options: Partial<ImportOptions> = {}) {
    let isRead = false
    const onProgress = () => {
      isRead = true
    }
    const summary = await importFiles(store, [file], { ...importing, kind: 'gifts', ...options, onProgress })
    const { import: id, records, created, changed, unchanged, differing, refused } = summary
    return { id, isRead, records, created, changed, unchanged, differing, refused }
  }

  const nothing = { records: rows, created: 0, changed: 0, unchanged: rows, differing: 0, refused: 0 }

  it('is not read again while the store is as it said', async () => {
    const first = await again()
    expect(first).toMatchObject({ isRead: true, created: rows })
    expect(await again()).toMatchObject({ isRead: false, ...nothing })
    expect(await again({ dryRun: true, correct: true })).toMatchObject({ isRead: false, ...nothing })
    // In other words it may say something else, and what is repaired is compared row by row.
    expect(await again({ reading: { decimal: 'point' } })).toMatchObject({ isRead: true, ...nothing })
    expect(await again({ repair: true })).toMatchObject({ isRead: true, ...nothing })
    const more = await fileOf('more-gifts.csv', textOf([gift(rows)]))
    await importFiles(store, [more], importing)
    expect(await again()).toMatchObject({ isRead: false, ...nothing })
    await writeFile(file, textOf([...all, gift(rows + 1)]))
    expect(await again()).toMatchObject({ isRead: true, created: 1, unchanged: rows })
    await writeFile(file, textOf(all))
    expect(await again()).toMatchObject({ isRead: false, ...nothing })
    for (const { id, created } of await listImports(store.db, { limit: 100 })) {
      if (created > 0 && id >= (first.id ?? 0)) expect(await takeBack(store, id)).toBe(true)
    }
    expect(await again()).toMatchObject({ isRead: true, created: rows })
  })

  it('is read after each change of what it said', async () => {
    const changes: Readonly<Record<string, readonly [change: string, back: string]>> = {
      'a month has another sum': [
        `update donation_month set amount = amount + 1 where month = '2025-03-01'`,
        `update donation_month set amount = amount - 1 where month = '2025-03-01'`,
      ],
      'a gift has other contents': [
        `update imported_gift set content_hash = sha256(content_hash || 'x') where ctid = (select min(ctid) from imported_gift)`,
        '',
      ],
      'a gift is gone': [`delete from imported_gift where ctid = (select max(ctid) from imported_gift)`, ''],
      'a project has another id': [
        `update project set external_id = 'three' where external_id = 'two'`,
        `update project set external_id = 'two' where external_id = 'three'`,
      ],
      'a project is no longer of the platform': [
        `update project set source = 'upstream' where external_id = 'one'`,
        `update project set source = 'import' where external_id = 'one'`,
      ],
    }
    for (const [what, [change, back]] of Object.entries(changes)) {
      await store.db.query(change)
      const after = await again()
      expect(after, what).toMatchObject({ isRead: true })
      expect(after, what).not.toMatchObject(nothing)
      if (back !== '') await store.db.query(back)
      for (const fix of [{ correct: true }, { repair: true }]) await again(fix)
      expect(await again(), what).toMatchObject(nothing)
      expect(await again(), what).toMatchObject({ isRead: false, ...nothing })
    }
  })
})
