import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Environment } from '../../src/config/config.js'
import { isActiveCode } from '../../src/standard/index.js'
import { seed } from '../../src/store/seeding/seed.js'
import type { Store } from '../../src/store/store.js'
import { day, mappingConfig } from '../support/builders.js'
import { runCommandLine } from '../support/command-line.js'
import { testDatabase } from '../support/database.js'

let store: Store
let environment: Environment
beforeAll(async () => {
  const database = await testDatabase()
  store = database.store
  const dataDir = await mkdtemp(path.join(tmpdir(), 'giving-themes-'))
  afterAll(() => rm(dataDir, { recursive: true, force: true }))
  environment = {
    DATABASE_URL: database.url,
    REPORTING_ORG_REF: mappingConfig.reportingOrg.ref,
    GIVING_DATA_DIR: dataDir,
  }
  const { currency, baseUrl } = mappingConfig
  await seed(store, { projects: 60, source: 'local', firstId: 1, today: day('2026-11-21'), currency, baseUrl })
})

/** Runs `giving themes ...` with --json. */
const runThemes = (...args: string[]) => runCommandLine(['themes', ...args, '--json'], environment)

async function map(...args: string[]): Promise<unknown> {
  return JSON.parse((await runThemes('map', ...args)).stdout)
}

async function marked(): Promise<number[]> {
  const { rows } = await store.db.query<{ id: number }>(
    'select project_id as id from project_version where dirty order by 1',
  )
  return rows.map(({ id }) => id)
}

describe('giving themes', () => {
  it('lists every theme with an active purpose code', async () => {
    const { themes } = JSON.parse((await runThemes('list')).stdout) as {
      themes: { id: string; sectorCode: string; sectorName: string; projects: number }[]
    }
    expect(themes.map(({ id }) => id)).toEqual(themes.map(({ id }) => id).sort())
    expect(themes.filter(({ sectorCode, sectorName }) => !isActiveCode('Sector', sectorCode) || !sectorName)).toEqual(
      [],
    )
  })

  it('maps one, and marks its projects and no others, once', async () => {
    await store.db.query('update project_version set dirty = false')
    expect(await map('water', '14030', '--humanitarian')).toMatchObject({
      id: 'water',
      sectorCode: '14030',
      humanitarian: true,
    })
    const { rows } = await store.db.query<{ id: number }>(
      `select id from project p where exists (select from project_theme t where t.project_id = p.id and theme_id = 'water')
        or exists (select from organisation_theme t where t.organisation_id = p.organisation_id and theme_id = 'water') order by 1`,
    )
    expect(await marked()).toEqual(rows.map(({ id }) => id))
    await store.db.query('update project_version set dirty = false')
    expect(await map('water', '14030')).toMatchObject({ humanitarian: true })
    expect(await marked()).toEqual([])
  })

  it.each([
    ['waters', '14030', 'expected the id of a theme, one of agriculture, animals'],
    ['water', '14', 'expected an active code of the IATI Sector list, got "14"'],
    ['water', '74010', 'got 74010, which has been withdrawn'],
  ])('refuses %s as %s', async (theme, code, message) => {
    const refused = { code: 2, stdout: '', stderr: expect.stringContaining(message) }
    expect(await runThemes('map', theme, code)).toMatchObject(refused)
  })
})
