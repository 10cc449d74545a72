import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { findLineage } from '../../../../src/platform/database/connection.js'
import { Fence } from '../../../../src/platform/database/fence.js'
import { openStore, type Store } from '../../../../src/platform/database/store.js'
import { testDatabase } from '../../../support/store/database.js'
import { temporaryFolder } from '../../../support/values/temporary-folder.js'

/** The address of a way to a server that looks like a pooler: the start of a connection names another process than the one that answers. */
async function pooled(url: string): Promise<string> {
  const { port, hostname } = new URL(url)
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => undefined))
    client.pipe(upstream)
    upstream.on('data', (chunk) => {
      // BackendKeyData of the protocol: 'K', a length of 12, the process and its secret.
      const at = chunk.indexOf(Buffer.from([0x4b, 0, 0, 0, 12]))
      if (at >= 0) chunk.writeInt32BE(1, at + 5)
      client.write(chunk)
    })
    upstream.on('end', () => client.end())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = new URL(url)
  address.port = String((server.address() as AddressInfo).port)
  return address.href
}

/** Writes over a connection that is shared, by itself and in a transaction. */
const writes: Readonly<Record<string, (store: Store) => Promise<unknown>>> = {
  alone: (store) => store.db.query(`insert into store_fact (name, value, recorded_at) values ('a', '1', now())`),
  'in a transaction': (store) =>
    store.transaction((db) => db.query(`insert into store_fact (name, value, recorded_at) values ('b', '1', now())`)),
}

it.each(Object.keys(writes))('a pooler leads to the newest primary that was seen: it is written, %s', async (way) => {
  const { url } = await testDatabase()
  const fence = new Fence(await temporaryFolder())
  await using store = openStore({ url: await pooled(url), max: 2, applicationName: 'test', fence })
  // The connection after the first one knows what that has seen.
  for (let time = 0; time < 2; time++) await store.db.query('select')
  await writes[way]?.(store)
  expect((await store.snapshot((db) => store.besideSnapshot(db, (second) => second.query('select')))).rowCount).toBe(1)
  const zone = await store.db.query(`select current_setting('timezone') as zone`)
  expect(zone.rows).toEqual([{ zone: 'UTC' }])
})

it('compiles no statement, which takes longer than ours do: directly and behind a pooler', async () => {
  const { url } = await testDatabase()
  for (const address of [url, await pooled(url)]) {
    await using store = openStore({ url: address, max: 1, applicationName: 'test' })
    expect((await store.db.query(`select current_setting('jit') as jit`)).rows).toEqual([{ jit: 'off' }])
  }
})

it.each(Object.keys(writes))('a pooler leads to an older primary: it is read and not written, %s', async (way) => {
  const { url, store: direct } = await testDatabase()
  const lineage = await findLineage(direct.db)
  if (!lineage) throw new Error('the server tells its lineage')
  const fence = new Fence(await temporaryFolder())
  await using store = openStore({ url: await pooled(url), max: 1, applicationName: 'test', fence })
  await store.db.query('select')
  fence.exchange(JSON.stringify({ timelines: { [lineage.system]: lineage.timeline + 1 }, accepted: '' }))
  await expect(writes[way]?.(store)).rejects.toThrow(/older primary/)
  expect((await store.db.query('select count(*) as n from store_fact')).rows).toEqual([{ n: 0 }])
})
