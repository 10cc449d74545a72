import { beforeAll, describe, expect, it } from 'vitest'
import { organisationGraphs } from '../../../src/catalogue/sql/organisations.js'
import { projectGraphs } from '../../../src/catalogue/sql/project-graphs.js'
import { openStore } from '../../../src/platform/database/store.js'
import { testApi } from '../../support/api/api.js'
import { insertOrganisation, insertProjects } from '../../support/store/catalogue.js'
import { testDatabase } from '../../support/store/database.js'

describe('the first read of a record', async () => {
  const { store, url } = await testDatabase()

  beforeAll(async () => {
    await insertOrganisation(store.db, 318)
    await insertProjects(store.db, [{ id: 2, organisationId: 318 }])
  })

  it.each([
    ['projects', projectGraphs, 2],
    ['organisations', organisationGraphs, 318],
  ] as const)('finds what %s are made from by a statement that is planned once', async (_what, graphs, id) => {
    // One connection, for each has plans of its own; PostgreSQL plans the first five executions in any case.
    await using one = openStore({ url, max: 1, applicationName: 'giving test' })
    for (let read = 1; read <= 7; read++) expect(await graphs(one.db, [id])).toHaveLength(1)
    const { rows } = await one.db.query<{ planned: number }>(
      `select custom_plans::integer as planned from pg_prepared_statements where name like '%-graphs'`,
    )
    expect(rows).toEqual([{ planned: 5 }])
  })

  it('keeps the text without waiting for the disk', async () => {
    await store.db.query(`
      create table kept (what text, synchronous text);
      create function note_kept() returns trigger language plpgsql as $$ begin
        insert into kept values (tg_table_name, current_setting('synchronous_commit'));
        return null;
      end $$;
      create constraint trigger note after insert on wire_record deferrable initially deferred
        for each row execute function note_kept();
      create constraint trigger note after insert on organisation_record deferrable initially deferred
        for each row execute function note_kept();
      do $$ begin execute format('alter database %I set synchronous_commit = on', current_database()); end $$`)
    // The setting is that of new sessions.
    await using waiting = openStore({ url, max: 2, applicationName: 'giving test' })
    const { app, apiKey } = await testApi(waiting)
    for (const path of ['projectservice/projects/2', 'orgservice/organization/318']) {
      const read = async () => await app.inject(`/api/public/${path}.json?api_key=${apiKey}`)
      const first = await read()
      expect(first.statusCode).toBe(200)
      expect((await read()).body).toBe(first.body)
    }
    const { rows } = await store.db.query('select what, synchronous from kept')
    expect(rows).toEqual([
      { what: 'wire_record', synchronous: 'off' },
      { what: 'organisation_record', synchronous: 'off' },
    ])
  })
})
