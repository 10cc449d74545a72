import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { copyRows } from '../../../src/platform/database/copy-rows.js'
import { testDatabase } from '../../support/store/database.js'

const database = await testDatabase()

/** The rows of a select, their fields copied; and afterwards the answer of the same connection to another statement. */
async function copied(select: string) {
  return await database.store.connection(async (db, client) => {
    const rows: string[][] = []
    const sql = `copy (${select}) to stdout (format binary)`
    for await (const batch of copyRows(client, sql)) rows.push(...batch.map((row) => row.map((field) => `${field}`)))
    return { rows, next: (await db.query<{ answer: number }>('select 42 as answer')).rows }
  })
}

const usable = [{ answer: 42 }]

describe('rows of a COPY', () => {
  it('are whole, however their bytes are cut into chunks', async () => {
    const lengths = `unnest(array[0, 1, 7, 100, 65000, 70000, 3, 1000000, 0, 12]) with ordinality as t (length, place)`
    const { rows, next } = await copied(`select repeat('ä', length), '|' || place from ${lengths} order by place`)
    expect(rows.map(([text, place]) => [text?.length, place])).toEqual(
      [0, 1, 7, 100, 65000, 70000, 3, 1000000, 0, 12].map((length, index) => [length, `|${index + 1}`]),
    )
    expect(next).toEqual(usable)
  })

  it('are as many as there are, with what text would escape and with nulls', async () => {
    const text = String.raw`E'\t\\\n\r' || n`
    const { rows } = await copied(`select ${text}, null::text, 'last' from generate_series(1, 20000) n`)
    expect(rows).toEqual(Array.from({ length: 20_000 }, (_, n) => [`\t\\\n\r${n + 1}`, '', 'last']))
  })

  it('stay as they are until more are asked for, however slowly they are taken', async () => {
    const rows = await database.store.connection(async (_db, client) => {
      const taken: string[] = []
      const select = `select n || ' ' || repeat('x', 30000 + n) from generate_series(1, 100) n`
      for await (const batch of copyRows(client, `copy (${select}) to stdout (format binary)`)) {
        await setTimeout(2)
        taken.push(...batch.map(([text]) => `${text}`))
      }
      return taken
    })
    expect(rows).toEqual(Array.from({ length: 100 }, (_, n) => `${n + 1} ${'x'.repeat(30_001 + n)}`))
  })

  it('may be none', async () => {
    expect(await copied('select 1 where false')).toEqual({ rows: [], next: usable })
  })
})

describe('a COPY that the server breaks off', () => {
  it('fails, and its connection can be used again', async () => {
    await database.store.connection(async (db, client) => {
      const taking = (async () => {
        const sql = 'copy (select 1 / (30000 - n) from generate_series(1, 40000) n) to stdout (format binary)'
        for await (const _ of copyRows(client, sql));
      })()
      await expect(taking).rejects.toMatchObject({ code: '22012' })
      expect((await db.query('select 42 as answer')).rows).toEqual(usable)
    })
  })
})
