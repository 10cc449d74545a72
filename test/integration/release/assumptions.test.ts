import { expect, it, onTestFinished } from 'vitest'
import { newInstallation } from '../../support/commands/cli.js'
import { type CommandStore, commandStore } from '../../support/commands/command-store.js'
import { insertProjects } from '../../support/store/catalogue.js'

const others = {
  ASSUMED_DONORS: 'Friends & donors of {publisher}',
  ASSUMED_PARTNER_TYPE: '21',
  ASSUMED_DOCUMENT_CATEGORY: 'A07',
}

async function aForeignPartner(): Promise<CommandStore> {
  const ours = await commandStore({ REPORTING_ORG_REF: 'GB-CHC-1164883', REPORTING_ORG_NAME: 'Wells' })
  onTestFinished(ours.remove)
  const { db } = ours.store
  await db.query(`insert into organisation (id, name, country_code) values (1, 'Lakes', 'DE')`)
  await insertProjects(db, [{ id: 7, organisationId: 1 }])
  await db.query(`insert into country (code, name) values ('SL', 'Sierra Leone')`)
  await db.query(`insert into project_country (project_id, position, country_code) values (7, 0, 'SL')`)
  await db.query(`update project set additional_documentation = 'https://x.example/plan.pdf'`)
  await db.query(
    `insert into donation_month (project_id, month, currency, kind, source, amount, count, last_on)
      values (7, '2026-01-01', 'USD', 'gift', 'local', 1250.50, 3, '2026-01-31')`,
  )
  return ours
}

/** What the live activities have where no record says it. */
async function assumedIn(ours: CommandStore) {
  const text = await ours.read('/iati/activities.xml')
  return {
    parties: [...text.matchAll(/<participating-org role="(?:1|4)" type="(\d+)"><narrative>([^<]+)/g)].map(
      ([, type, name]) => `${type} ${name}`,
    ),
    givers: [...text.matchAll(/<provider-org[^>]*><narrative>([^<]+)/g)].map(([, name]) => name),
    categories: [...text.matchAll(/<document-link .*?<category code="(\w+)"/gs)].map(([, code]) => code),
  }
}

it('what is assumed is published as configured, and anew when the configuration changes', async () => {
  const ours = await aForeignPartner()
  expect(await ours.json('publish --inline')).toMatchObject({ answer: { state: 'published' } })
  expect(await assumedIn(ours)).toEqual({
    parties: ['90 Individual donors through Wells', '22 Lakes'],
    givers: ['Individual donors through Wells'],
    categories: ['A02'],
  })
  for (const [name, value] of Object.entries(others)) {
    expect(await ours.json('publish --inline', { [name]: value }), name).toMatchObject({
      answer: { state: 'published' },
    })
  }
  expect(await ours.json('publish --inline', others)).toMatchObject({ answer: { state: 'published' } })
  expect(await assumedIn(ours)).toEqual({
    parties: ['90 Friends &amp; donors of Wells', '21 Lakes'],
    givers: ['Friends &amp; donors of Wells'],
    categories: ['A07'],
  })
  expect(await ours.json('publish --inline', others)).toMatchObject({ answer: { state: 'unchanged' } })
})

it('what is assumed is said to readers, in both languages', async () => {
  const ours = await aForeignPartner()
  const installation = await newInstallation({ ...ours.environment, ...others, LOG_LEVEL: 'info' })
  onTestFinished(installation.remove)
  const service = await installation.serve('api', 'Server listening at ')
  const [, base] = /Server listening at (http:[^"]+)"/.exec(service.output()) ?? []
  for (const language of ['en', 'fr']) {
    const page = await (await fetch(`${base}/${language}/developers`)).text()
    const said = /<h2 id="assumptions">.*?<\/section>/s.exec(page)?.[0]
    expect(said?.match(/Friends &amp; donors of Wells|type 21\b|A07/g)?.sort(), language).toEqual([
      ...['A07', 'Friends &amp; donors of Wells', 'type 21'],
    ])
  }
})
