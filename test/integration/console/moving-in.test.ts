import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listAudit } from '../../../src/accounts/sql/audit-events.js'
import { findSource } from '../../../src/catalogue/sql/import-sources.js'
import { type Console, openConsole } from '../../support/api/console.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const database = await testDatabase()
const { db } = database.store
const dataDir = await temporaryFolder()
const environment = { DATABASE_URL: database.url, GIVING_DATA_DIR: dataDir, DEFAULT_CURRENCY: 'EUR' }
const gifts = (amounts: readonly string[]) =>
  `Spenden-Nr.;Projekt-ID;Betrag;Währung;Datum;Status\n${amounts.map((amount, at) => `G-${at + 1};w-1;${amount};EUR;0${at + 1}.03.2026;Abgeschlossen\n`).join('')}G-9;w-1;5,00;EUR;09.03.2026;Ausstehend\n`

describe('a file that becomes a source', { shuffle: false }, () => {
  let one: Console
  beforeAll(async () => {
    one = await openConsole({ ...environment, OPS_TOKEN: 'ana+import:a-long-token-of-ana, bo:a-long-token-of-bobby' })
  })
  afterAll(() => one.close())
  const ana = { authorization: 'Bearer a-long-token-of-ana' }
  const bo = { authorization: 'Bearer a-long-token-of-bobby' }
  const page = async (address: string) => (await one.ask(address, ana)).text
  const read = () => runCommandLine(['sources', 'run', 'gifts'], environment)
  let upload = ''

  it('is sent with others, which are shown in the order in which the store needs them', async () => {
    const sent = await one.sendFiles(
      [
        ['gifts.csv', gifts(['10,00', '20,00'])],
        ['projects.csv', 'externalId,title,status\nw-1,Wells,active\n'],
      ],
      {},
      ana,
    )
    const first = String(sent.headers.location)
    expect(await page(first)).toMatch(/Read as projects.*These wait too: gifts.csv/s)
    const after = await one.confirm(first, { do: 'import' }, ana)
    upload = String(after.headers.location).replace('?after=1', '')
    expect(await page(`${upload}?after=1`)).toMatch(/Import 1<\/a> is done: 1 created.*Read as gifts/s)
    const done = await one.confirm(upload, { do: 'import' }, ana)
    expect(done.headers.location).toBe('/imports/2')
    expect(await page('/imports/2')).toContain(`/sources/add?upload=${upload.replace('/imports/uploads/', '')}`)
  })

  it('is read every night from a folder of the inbox or an address, and from nowhere else', async () => {
    const id = upload.replace('/imports/uploads/', '')
    const add = `/sources/add?upload=${id}`
    const fields = { upload: id, source: 'gifts', schedule: '30 1 * * *' }
    const send = async (from: string, more = {}) => await one.confirm(add, { ...fields, from, ...more }, ana)
    for (const from of [
      '/etc',
      '/etc/passwd',
      '../feeds',
      '..',
      'sftp://a@b/c',
      's3://bucket/key',
      'file:///etc',
      '',
      '.hidden',
      'a/b',
    ])
      expect([from, (await send(from)).status]).toEqual([from, 400])
    expect((await send('gifts', { schedule: '* * * * *' })).status).toBe(400)
    expect((await send('http://gifts.example/today.csv')).status).toBe(400)
    expect(await findSource(db, 'gifts')).toBeUndefined()
    expect((await send('gifts')).status).toBe(303)
    expect(await findSource(db, 'gifts')).toMatchObject({
      ...{ kind: 'gifts', from: path.join(dataDir, 'inbox', 'gifts'), schedule: '30 1 * * *', complete: false },
      reading: { only: { Status: ['Abgeschlossen'] }, decimal: 'comma', date: 'dd.mm.yyyy' },
    })
    expect((await send('gifts')).text).toContain('there is a source gifts already')
  })

  it('is read now when it is asked for, and shows what came', async () => {
    await mkdir(path.join(dataDir, 'inbox', 'gifts'), { recursive: true })
    const file = path.join(dataDir, 'inbox', 'gifts', 'today.csv')
    await writeFile(file, gifts(['10,00', '20,00', '30,00', '40,00', '50,00', '60,00', '70,00', '80,00']))
    expect((await one.confirm('/sources/gifts/run', {}, bo)).status).toBe(303)
    expect(((await findSource(db, 'gifts'))?.nextDue ?? Infinity) <= new Date()).toBe(true)
    await read()
    expect(await page('/sources')).toMatch(/EUR gift: 360\.00 taken.*href="\/imports\/3">Receipt/s)
  })

  it('is held with the difference in records and money, and approved', async () => {
    const file = path.join(dataDir, 'inbox', 'gifts', 'today.csv')
    await writeFile(file, gifts(['1,00', '2,00', '30,00', '40,00', '50,00', '60,00', '70,00', '80,00']))
    await db.query(`update import_source set reading = reading || '{"correct": true}' where name = 'gifts'`)
    await read()
    for (const address of ['/sources', '/sources/gifts/approve']) {
      const text = await page(address)
      expect(text).toContain('today.csv would change 2 and end 0 of 8 records, such as reference')
      expect(text).toMatch(/gift<\/th><td>EUR<\/td><td class="number">360\.00<\/td><td class="number">333\.00</)
    }
    expect((await one.confirm('/sources/gifts/approve', {}, ana)).status).toBe(303)
    await read()
    expect(await page('/sources')).toContain('EUR gift: 333.00 taken, 360.00 the last time')
  })

  it('is removed by who may import; others may read it now and decide, as before', async () => {
    expect((await one.ask('/sources', bo)).text).not.toContain('/sources/gifts/remove')
    for (const address of [
      '/sources/gifts/remove',
      `/sources/add?upload=${upload.slice(-36)}`,
      upload,
      '/imports/2/undo',
    ])
      expect([address, (await one.ask(address, bo)).status]).toEqual([address, 403])
    expect((await one.confirm('/sources/gifts/remove', {}, ana)).status).toBe(303)
    expect(await findSource(db, 'gifts')).toBeUndefined()
    const events = await listAudit(db, { since: new Date(0), limit: 100, words: 'source gifts' })
    expect(events.map(({ action, actor }) => `${action} ${actor}`)).toEqual([
      'source-saved operator ana (console)',
      'source-asked operator bo (console)',
      'source-decided operator ana (console)',
      'source-removed operator ana (console)',
    ])
  })
})
