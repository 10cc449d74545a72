import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../../../src/platform/database/connection.js'
import type { Store } from '../../../../src/platform/database/store.js'
import type { Publication } from '../../../../src/release/publication.js'

/**
 * A publication small enough to reason about: items that are stale until rendered, and a row for every release. What
 * it does to the tables shows what was done once, twice or at the same time. Speed and failures are set in `switch`.
 */
export function tablePublication(store: Store): Publication {
  const { db } = store
  return {
    planShards: async (run, size = 10) => {
      if (run.force) await db.query('update item set stale = true')
      const { rows } = await db.query<{ id: number }>('select id from item where stale order by id')
      const shards = []
      for (let at = 0; at < rows.length; at += Math.min(size, 10)) {
        const last = rows[Math.min(at + 10, rows.length) - 1]
        shards.push({ fromId: rows[at]?.id ?? 0, toId: last?.id ?? 0 })
      }
      return shards
    },
    renderShard: async (_run, shard, { signal, onProgress }) => {
      const { rows } = await db.query<{ id: number }>('select id from item where stale and id between $1 and $2', [
        shard.fromId,
        shard.toId,
      ])
      for (const [index, { id }] of rows.entries()) {
        signal.throwIfAborted()
        await sleep(await read(db, 'render_ms'), undefined, { signal })
        if ((await read(db, 'failing_item')) === id) throw new Error(`item ${id} cannot be rendered`)
        await db.query('update item set stale = false, renders = renders + 1 where id = $1', [id])
        onProgress?.('render', index + 1, rows.length)
      }
      return { rendered: rows.length, changed: rows.length, held: 0 }
    },
    publishRelease: async (run, { signal, onProgress }) => {
      const entered = await db.query<{ id: number }>('insert into publishing (run_id) values ($1) returning id', [
        run.id,
      ])
      const steps = 10
      for (let step = 1; step <= steps; step++) {
        signal.throwIfAborted()
        onProgress?.('assemble', step, steps)
        await sleep((await read(db, 'publish_ms')) / steps, undefined, { signal })
      }
      await db.query(
        `insert into committed (run_id, times) values ($1, 1)
         on conflict (run_id) do update set times = committed.times + 1`,
        [run.id],
      )
      await db.query('update publishing set ended_at = clock_timestamp() where id = $1', [entered.rows[0]?.id])
      return { state: 'published', releaseId: `release-${run.id}`, held: 0 }
    },
  }
}

/** Creates the tables, or empties them. */
export async function resetTables(db: Db): Promise<void> {
  await db.query('create table if not exists item (id integer primary key, stale boolean, renders integer default 0)')
  await db.query('create table if not exists switch (name text primary key, value integer)')
  await db.query(`create table if not exists publishing (
    id integer generated always as identity primary key, run_id bigint, began_at timestamptz default clock_timestamp(),
    ended_at timestamptz)`)
  await db.query('create table if not exists committed (run_id bigint primary key, times integer)')
  await db.query(
    'truncate item, switch, publishing, committed, run, run_shard, sync_run, schedule restart identity cascade',
  )
}

/** Sets a switch: `render_ms` an item, `publish_ms` a release, `failing_item`. */
export async function turn(db: Db, name: 'render_ms' | 'publish_ms' | 'failing_item', value: number): Promise<void> {
  await db.query('insert into switch values ($1, $2) on conflict (name) do update set value = excluded.value', [
    name,
    value,
  ])
}

async function read(db: Db, name: string): Promise<number> {
  const { rows } = await db.query<{ value: number }>('select value from switch where name = $1', [name])
  return rows[0]?.value ?? 0
}
