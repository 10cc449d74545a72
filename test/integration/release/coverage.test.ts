import { expect, test } from 'vitest'
import { testPublisher } from '../../support/release/publishing.js'
import { insertProjects } from '../../support/store/catalogue.js'
import { testDatabase } from '../../support/store/database.js'

test('the catalogue covers the years and countries of what is published, not of what is held', async () => {
  const { store } = await testDatabase()
  await insertProjects(store.db, [{ id: 1, title: '<p></p>' }, { id: 2 }, { id: 3 }, { id: 4 }])
  await store.db.query(
    `update project set approved_date = (array['2015-03-01', '2019-03-01', '2017-03-01'])[id]::date where id < 4`,
  )
  await store.db.query(`insert into country (code, name) values ('NP', 'Nepal'), ('KE', 'Kenya'), ('RW', 'Rwanda'), ('BR', 'Brazil')
    on conflict do nothing`)
  await store.db.query(
    `insert into project_country (project_id, position, country_code) values (1, 1, 'NP'), (2, 1, 'RW'), (3, 1, 'KE')`,
  )
  const publisher = await testPublisher(store)
  await publisher.publish()
  const catalogue = await publisher.read('/data/catalog.ttl')
  expect(catalogue.match(/startDate "?(\d{4})/)?.[1]).toBe('2017')
  const countries = new Set([...catalogue.matchAll(/country\/([A-Z]{3})/g)].map(([, code]) => code))
  expect([...countries]).toEqual(['KEN', 'RWA'])
})
