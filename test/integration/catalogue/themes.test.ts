import { describe, expect, it } from 'vitest'
import { saveThemeList } from '../../../src/catalogue/sql/reference-lists.js'
import { seed } from '../../../src/demo/sql/seed.js'
import { isActiveCode } from '../../../src/iati/standard/index.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { testDatabase } from '../../support/store/database.js'
import { day, mappingConfig } from '../../support/values/builders.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const { store, url } = await testDatabase()
const dataDir = await temporaryFolder()
const environment = {
  DATABASE_URL: url,
  REPORTING_ORG_REF: mappingConfig.reportingOrg.ref,
  GIVING_DATA_DIR: dataDir,
}
const { currency, baseUrl } = mappingConfig
await seed(store, { projects: 60, source: 'local', firstId: 1, today: day('2026-11-21'), currency, baseUrl })

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

  it('renames one for good: an upstream’s list renames the others only', async () => {
    const run = await runThemes('rename', 'edu', 'Learning')
    expect(JSON.parse(run.stdout)).toMatchObject({ id: 'edu', name: 'Learning' })
    await store.db.query(`update theme set name_source = 'import' where id = 'health'`)
    await saveThemeList(store.db, [
      { id: 'edu', name: 'Education for all' },
      { id: 'health', name: 'Good Health' },
    ])
    const { rows } = await store.db.query(`select id, name from theme where id in ('edu', 'health') order by id`)
    expect(rows).toEqual([
      { id: 'edu', name: 'Learning' },
      { id: 'health', name: 'Good Health' },
    ])
    const aliases = await store.db.query(`select name, theme_id from theme_alias order by name`)
    expect(aliases.rows).toEqual([
      { name: 'Education', themeId: 'edu' },
      { name: 'Education for all', themeId: 'edu' },
      { name: 'Physical Health', themeId: 'health' },
    ])
    expect(await runThemes('rename', 'edu', ' ')).toMatchObject({ code: 2 })
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
