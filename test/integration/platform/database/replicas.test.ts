import { expect, it } from 'vitest'
import { ServiceError } from '../../../../src/kernel/errors.js'
import { Replicas } from '../../../../src/platform/database/replicas.js'
import { openStore } from '../../../../src/platform/database/store.js'
import { freePort } from '../../../support/servers/free-port.js'
import { testDatabase } from '../../../support/store/database.js'

it('leaves out what is no standby of the database, and says why', async () => {
  const { store, url } = await testDatabase()
  const open = (to: string) => openStore({ url: to, max: 1, applicationName: 'test' })
  const away = new URL(url)
  away.port = `${await freePort()}`
  const told: string[] = []
  const replicas = new Replicas(
    store,
    [url, away.href].map((to, at) => ({ name: `${at}`, asked: open(to), pools: [open(to)] })),
    { maxLagMs: 5_000, told: ({ name }) => told.push(name) },
  )
  expect(await replicas.measure()).toEqual([
    { name: '0', lagSeconds: undefined, leftOut: 'it is no standby' },
    { name: '1', lagSeconds: undefined, leftOut: expect.stringContaining('the database cannot be reached') },
  ])
  expect([replicas.pick(0), told]).toEqual([undefined, []])
  // Nobody waits for what is not read from.
  await replicas.caughtUp()
  await replicas.close()
})

it('reads here what fails elsewhere because of the server, and nothing else', async () => {
  const { store, url } = await testDatabase()
  const elsewhere = openStore({
    url: `${url}?options=-c%20default_transaction_read_only%3Don`,
    max: 2,
    applicationName: 'test',
  })
  const failed: unknown[] = []
  const reads = store.reading(() => ({ store: elsewhere, failed: (error) => failed.push(error) }))
  const place = `select current_setting('default_transaction_read_only') as value`
  expect((await reads.db.query(place)).rows).toEqual([{ value: 'on' }])
  expect((await reads.snapshot((db) => db.query(place))).rows).toEqual([{ value: 'on' }])
  const abort = new AbortController()
  expect((await reads.abortable(abort.signal, (db) => db.query(place))).rows).toEqual([{ value: 'on' }])
  // No standby takes writes, and that is no fault of it.
  await reads.db.query(`insert into store_fact (name, value, recorded_at) values ('base-url', 'a', now())`)
  expect([(await store.db.query('select from store_fact')).rowCount, failed]).toEqual([1, []])
  await expect(reads.db.query('select 1 / 0')).rejects.toMatchObject({ code: '22012' })
  await expect(reads.db.query(`select pg_terminate_backend(pg_backend_pid())`)).rejects.toThrow(ServiceError)
  expect(failed).toHaveLength(1)
  await elsewhere.close()
  expect((await reads.db.query(place)).rows).toEqual([{ value: 'off' }])
  expect(failed).toHaveLength(2)
})
