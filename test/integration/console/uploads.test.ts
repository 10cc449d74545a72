import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listAudit } from '../../../src/accounts/sql/audit-events.js'
import { type Console, openConsole } from '../../support/api/console.js'
import { testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const database = await testDatabase()
const { db } = database.store
const dataDir = await temporaryFolder()
const projects =
  'Projekt-ID;Titel;Status;Land;Ziel;Notiz\nw-1;Brunnen;laufend;Kenia;EUR 1.000,00;a\nw-2;Schule;fertig gebaut;SN;2.000,00;b\nw-3;;laufend;SN;3.000,00;c\n'

describe('a file that is sent to the console', { shuffle: false }, () => {
  let one: Console
  beforeAll(async () => {
    one = await openConsole({ DATABASE_URL: database.url, GIVING_DATA_DIR: dataDir, DEFAULT_CURRENCY: 'EUR' })
  })
  afterAll(() => one.close())
  let address = ''
  const page = async () => (await one.ask(address)).text
  /** The fields of the form as the page has them, with those that a person changes. */
  const choose = async (changes: Record<string, string>) => {
    const text = await page()
    const fields = new URLSearchParams({ name: 'Ana' })
    for (const [, name = '', options = ''] of text.matchAll(/<select[^>]* name="([^"]+)"[^>]*>(.*?)<\/select>/gs)) {
      fields.set(
        name,
        /<option value="([^"]*)" selected>/.exec(options)?.[1] ?? /value="([^"]*)"/.exec(options)?.[1] ?? '',
      )
    }
    const [, token = ''] = /name="token" value="(\w+)"/.exec(text) ?? []
    for (const [name, value] of Object.entries({ token, ...changes })) fields.set(name, value)
    return await one.ask(address, { origin: one.base }, fields.toString())
  }

  it('is looked at: what it is taken for, and what an import would store', async () => {
    const sent = await one.sendFiles([['Projekte 2026.csv', projects]], { name: 'Ana' })
    expect(sent).toMatchObject({
      status: 303,
      headers: { location: expect.stringMatching(/^\/imports\/uploads\/[\w-]+$/) },
    })
    address = String(sent.headers.location)
    const text = await page()
    for (const part of ['Read as projects', '<td>Brunnen</td>', 'laufend is active', 'fertig gebaut', 'Import it'])
      expect(text).toContain(part)
    expect((await one.ask('/imports')).text).toContain('Projekte 2026.csv')
    const { rows } = await db.query('select from project')
    expect(rows).toEqual([])
  })

  it('is read as a person chooses: values, columns left out, what is refused', async () => {
    const [, at = ''] = /id="v([\d-]+)">Status: fertig gebaut/.exec(await page()) ?? []
    expect((await choose({ [`value-${at}`]: 'retired', do: 'look' })).status).toBe(303)
    const text = await page()
    expect(text).toContain('3 records: 2 would be created, 0 changed, 0 stay as they are, 1 are refused.')
    const refused = await one.ask(`${address}/refused`)
    expect(refused.headers['content-disposition']).toBe('attachment; filename="projekte-2026.refused.csv"')
    expect(refused.text).toMatch(/^why;Projekt-ID;.*\r\n"?title: expected a value: a text;w-3;/)
  })

  it('is imported as the page has shown it, with its receipt, and not by other choices', async () => {
    const unseen = await choose({ decimal: 'point', do: 'import' })
    expect(unseen.headers.location).toBe(address)
    expect((await db.query('select from project')).rows).toEqual([])
    await choose({ decimal: 'comma', do: 'look' })
    await page()
    const done = await choose({ do: 'import' })
    expect(done).toMatchObject({ status: 303, headers: { location: '/imports/1' } })
    const { rows } = await db.query(`select external_id, title, status, goal::text from project order by external_id`)
    expect(rows).toEqual([
      { externalId: 'w-1', title: 'Brunnen', status: 'active', goal: '1000.000' },
      { externalId: 'w-2', title: 'Schule', status: 'retired', goal: '2000.000' },
    ])
    const receipt = (await one.ask('/imports/1')).text
    for (const part of ['3 rows: 2 taken, 1 refused', 'Projekte 2026.csv', '/imports/1/undo', `${address}/refused`])
      expect(receipt).toContain(part)
    // Of the file itself nothing is kept.
    expect(await readdir(path.join(dataDir, address.replace('/imports', '')))).toEqual(['_refused', '_upload.json'])
  })

  it('is taken back', async () => {
    expect((await one.ask('/imports/1/undo')).text).toContain('2 of project removed')
    expect((await one.confirm('/imports/1/undo', { name: 'Ana', comment: 'wrong file' })).status).toBe(303)
    expect((await db.query('select from project')).rows).toEqual([])
    expect((await one.ask('/imports/1')).text).toContain('taken back')
  })

  it('leaves every step in the audit trail', async () => {
    const events = await listAudit(db, { since: new Date(0), limit: 20 })
    const actor = 'operator Ana (console)'
    expect(events.filter((event) => event.actor === actor).map(({ action }) => action)).toEqual([
      ...['file-sent', 'upload-read', 'upload-read', 'upload-read', 'records-imported', 'import-undone'],
    ])
  })

  it('is waited for until an import of it was tried, however late that begins', async () => {
    const { headers } = await one.sendFiles([['Projekte 2027.csv', projects]], { name: 'Ben' })
    const at = String(headers.location)
    const refresh = await database.store.transaction(async (tx) => {
      await tx.query('lock table import')
      return (await fetch(one.base + at)).headers.get('refresh')
    })
    expect(refresh).toBe('2')
    expect((await one.ask(at)).text).toContain('Import it')
  })
})
