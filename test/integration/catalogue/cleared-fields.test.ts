import { rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { importFiles } from '../../../src/catalogue/import/import.js'
import { kinds } from '../../../src/catalogue/import/kinds.js'
import type { CurrencyCode } from '../../../src/kernel/money.js'
import { testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const filled: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  themes: { id: 'bees', name: 'Bees', sector: '31194' },
  organizations: { id: '7', name: 'Tara', orgRef: 'GB-CHC-202918', orgType: '22', country: 'SL' },
  funders: {
    ...{ id: '501', name: 'Lakes', orgRef: 'XM-DAC-1', orgType: '60' },
    ...{ ein: '98-7654321', country: 'CH', url: 'https://lakes.example' },
  },
  projects: {
    ...{ id: '101', title: 'Wells', status: 'active', deadline: '2027-06-30', sdgs: '6.1|13' },
    ...{ payouts: 'P-1:2027-03-31:2500.00', glideNumber: 'FL-2025-000001-SLE', locationName: 'Bo' },
    ...{ locationPrecision: 'point', latitude: '7.9', longitude: '-11.7' },
  },
}

describe('a field that an import keeps', async () => {
  const { store } = await testDatabase()
  let folder: string
  beforeAll(async () => {
    folder = await temporaryFolder()
    return () => rm(folder, { recursive: true, force: true })
  })
  const importing = async (name: string, text: string) => {
    const file = path.join(folder, name)
    await writeFile(file, text)
    const clock = () => new Date('2026-11-21T08:00:00Z')
    return await importFiles(store, [file], { source: 'import', clock, currency: 'USD' as CurrencyCode })
  }
  const csv = (kind: string, row: Readonly<Record<string, string>>) =>
    importing(`${kind}.csv`, `${Object.keys(row).join(',')}\n${Object.values(row).join(',')}\n`)
  const ndjson = (kind: string, row: object) => importing(`${kind}.ndjson`, `${JSON.stringify(row)}\n`)
  /** The row with another value in each field that can be emptied. */
  const emptied = <T>(kind: string, value: T) => {
    const fields = kinds.find(({ name }) => name === kind)?.fields ?? {}
    return Object.fromEntries(
      Object.entries(filled[kind] ?? {}).map(([name, text]) => [name, fields[name]?.cleared ? value : text]),
    ) as Record<string, string | T>
  }
  const state = async () => {
    const { rows } = await store.db.query(
      `select (select json_object_agg(id, sector_code) from theme where id = 'bees') as sectors,
        (select json_agg(array[org_ref, org_type, ein, country_code, country_name, url] order by id)
          from organisation) as parties,
        (select json_agg(array[deadline::text, glide_number, location_name, location_precision]) from project) as projects,
        (select count(*)::integer from project_sdg) as sdgs, (select count(*)::integer from payout_plan) as payouts`,
    )
    return rows[0]
  }
  const none = {
    sectors: { bees: undefined },
    parties: [
      [undefined, undefined, undefined, 'SL', 'Sierra Leone', undefined],
      [undefined, undefined, undefined, undefined, undefined, undefined],
    ],
    projects: [[undefined, undefined, undefined, 'point']],
    ...{ sdgs: 0, payouts: 0 },
  }

  beforeEach(async () => {
    for (const [kind, row] of Object.entries(filled)) {
      expect(await csv(kind, row)).toMatchObject({ refused: 0, problems: [] })
    }
  })

  it('stays where the cell is empty', async () => {
    const before = await state()
    expect(before).toMatchObject({ sdgs: 2, payouts: 1, sectors: { bees: '31194' } })
    for (const kind of Object.keys(filled)) {
      expect([kind, await csv(kind, emptied(kind, ''))]).toMatchObject([kind, { refused: 0, problems: [] }])
      expect([kind, await ndjson(kind, emptied(kind, ''))]).toMatchObject([kind, { refused: 0, problems: [] }])
    }
    expect(await state()).toEqual(before)
  })

  it.each([
    ['- in CSV', csv, '-'],
    ['null in NDJSON', ndjson, null],
  ] as const)('is emptied by %s, and the same again changes nothing', async (_, write, value) => {
    const run = write as (kind: string, row: object) => ReturnType<typeof csv>
    for (const kind of Object.keys(filled)) {
      expect([kind, await run(kind, emptied(kind, value))]).toMatchObject([kind, { changed: 1, problems: [] }])
      expect([kind, await run(kind, emptied(kind, value))]).toMatchObject([kind, { unchanged: 1, problems: [] }])
    }
    expect(await state()).toEqual(none)
  })

  it('is left alone in a record that is refused', async () => {
    await store.db.query("update project set source = 'upstream' where id = 101")
    const before = await state()
    expect(await csv('projects', emptied('projects', '-'))).toMatchObject({ refused: 1 })
    expect(await state()).toEqual(before)
    await store.db.query("update project set source = 'import' where id = 101")
  })

  it('is refused the mark where it always has a value', async () => {
    const run = await csv('organizations', { ...filled.organizations, vetted: '-' })
    expect(run).toMatchObject({ refused: 1, problems: [{ field: 'vetted' }] })
  })
})
