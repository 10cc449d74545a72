import { rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { seed } from '../../../src/demo/sql/seed.js'
import { deliverRelease } from '../../../src/extensions/bucket/deliver-release.js'
import { formerDemoRef } from '../../../src/kernel/demo-publisher.js'
import type { PublisherIdentity } from '../../../src/kernel/publisher.js'
import { findBucketState } from '../../../src/release/bucket-state.js'
import { releaseFolder } from '../../../src/release/folder/release-folder.js'
import { createReleaseReader } from '../../../src/release/read/release-reader.js'
import { type CommandStore, commandStore } from '../../support/commands/command-store.js'
import { testPublisher } from '../../support/release/publishing.js'
import { runsAll, someOf } from '../../support/runner/some-of.js'
import { type BucketServer, startBucketServer } from '../../support/servers/bucket-server.js'
import { RegistryServer } from '../../support/servers/registry-server.js'
import { insertProjects } from '../../support/store/catalogue.js'
import { day, mappingConfig, usd } from '../../support/values/builders.js'

const realRef = 'GB-CHC-1164883'

/** Three projects as those of the demo. */
async function seedSome({ store }: CommandStore): Promise<void> {
  const invented = { source: 'demo', isDemo: true, firstId: 9_000_001, projects: 3 } as const
  await seed(store, { ...invented, today: day('2026-11-20'), currency: usd, baseUrl: mappingConfig.baseUrl })
}

const stripe = {
  ...{ PAYMENT_GATEWAY: 'stripe', STRIPE_SECRET_KEY: 'sk_live_1', STRIPE_PUBLISHABLE_KEY: 'pk_live_1' },
  DONOR_KEYS: `2026:${Buffer.alloc(32, 1).toString('base64')}`,
}

// One story: each test goes on from where the one before it has left the store.
describe('the publisher of a store', { shuffle: false }, () => {
  let ours: CommandStore
  let registry: RegistryServer
  let bucket: BucketServer
  let firstRelease = ''
  const identity: PublisherIdentity = { ref: realRef, type: '22', currency: 'EUR', language: 'fr' }
  const variables = {
    ...{ REPORTING_ORG_REF: realRef, REPORTING_ORG_TYPE: '22', DEFAULT_CURRENCY: 'EUR', DEFAULT_LANGUAGE: 'fr' },
    ...stripe,
  }
  const publish = (changes: Record<string, string> = {}) => ours.json('publish --inline', changes)

  beforeAll(async () => {
    ours = await commandStore(variables)
    registry = await new RegistryServer().listen()
    registry.addOrganisation(realRef, 'giving', 'admin')
    bucket = await startBucketServer()
    await insertProjects(ours.store.db, [{ id: 7 }])
    await ours.store.db.query(
      `insert into progress_report (id, project_id, title, published_at, updated_at, content_html, url)
        values (1, 7, 'Water flows', '2026-02-01', '2026-02-01', '<p>Well dug.</p>', 'https://giving.example/reports/1')`,
    )
    await ours.store.db.query(
      `insert into donation_month (project_id, month, currency, kind, source, amount, count, last_on)
        values (7, '2026-01-01', 'EUR', 'gift', 'local', 1250.50, 3, '2026-01-31')`,
    )
  })
  afterAll(async () => {
    await registry[Symbol.asyncDispose]()
    await bucket[Symbol.asyncDispose]()
    await ours.remove()
  })

  it('is nobody before the first release, which records it', async () => {
    expect(await ours.json('publisher show')).toMatchObject({ code: 0, answer: { configured: identity } })
    expect(await ours.run('publisher change --from 22 --to 21')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('nothing is recorded'),
    })
    expect(await publish()).toMatchObject({ code: 0, answer: { state: 'published' } })
    firstRelease = (await ours.live()).id
    expect(await ours.json('publisher show')).toMatchObject({ code: 0, answer: { ...identity, differences: [] } })
    expect((await ours.run('publisher show')).stdout).toMatch(
      /^identifier: +GB-CHC-1164883\ntype: +22\ncurrency: +EUR\n/,
    )
  })

  const wrong = [
    ['REPORTING_ORG_REF', realRef, 'GB-CHC-1164884'],
    ['REPORTING_ORG_REF', realRef, 'XE-EXAMPLE-OURS'],
    ['REPORTING_ORG_TYPE', '22', '21'],
    ['DEFAULT_CURRENCY', 'EUR', 'USD'],
    ['DEFAULT_LANGUAGE', 'fr', 'en'],
  ] as const
  it.each(someOf(wrong, 3))('stops publishing and registering while %s is not %s but %s', async (name, was, is) => {
    const registering = {
      ...{ REGISTRY_URL: registry.url, REGISTRY_TOKEN: registry.issueToken(), LICENCE_ID: 'cc-by' },
      [name]: is,
    }
    const message = `${name} is ${is}, and this store has ${was}: set ${name}=${was} again`
    const change = `giving publisher change --from ${was} --to ${is}`
    const refused = await publish({ [name]: is })
    expect(refused).toMatchObject({
      code: 2,
      answer: { error: { code: 'publisher-differs', message: expect.stringContaining(message) } },
    })
    expect(JSON.stringify(refused.answer)).toContain(change)
    expect((await ours.live()).id).toBe(firstRelease)
    expect(await ours.run('registry register', registering)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(is.startsWith('XE-EXAMPLE-') ? 'a trial is registered nowhere' : message),
    })
    expect(registry.datasets).toEqual([])
    expect((await ours.json('publisher show', { [name]: is })).code).toBe(1)
    const status = await ours.json('status', { [name]: is })
    expect([status.code, JSON.stringify(status.answer.needs)]).toEqual([1, expect.stringContaining(message)])
    expect(JSON.stringify(status.answer.warnings)).toContain(`no donations are taken: publishing, registering`)
    const { stdout } = await ours.run('doctor', { [name]: is })
    expect(stdout).toMatch(
      /^FIX +database: +publishing, registering and donations have stopped: .*change-publisher\.md$/m,
    )
  })

  it('takes no amounts in another currency', async () => {
    const file = path.join(ours.folder, 'gifts.csv')
    await writeFile(file, 'project,date,amount,currency,reference\n7,2026-02-03,25.00,EUR,G-1\n')
    expect(await ours.run(`import ${file} --kind gifts`, { DEFAULT_CURRENCY: 'USD' })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('DEFAULT_CURRENCY is USD, and this store has EUR'),
    })
    expect(await ours.run(`import ${file} --kind gifts`)).toMatchObject({ code: 0 })
    expect(await publish()).toMatchObject({ answer: { state: 'published' } })
    firstRelease = (await ours.live()).id
  })

  it('is never changed to another currency: what would have to be converted is counted', async () => {
    expect(await ours.run('publisher change --from EUR --to USD --confirm', { DEFAULT_CURRENCY: 'USD' })).toMatchObject(
      {
        code: 2,
        stderr: expect.stringMatching(
          /never changed in place: 1 goals \(EUR\), 2 sums of gifts, refunds and fees \(EUR\) would have to be converted from EUR to USD/,
        ),
      },
    )
    expect((await ours.json('publisher show')).answer).toMatchObject(identity)
  })

  it.each([
    ['--from GB-CHC-1164884 --to GB-CHC-2', 'expected a value that is recorded'],
    [`--from ${realRef} --to x/y`, 'expected an organisation identifier'],
    [`--from ${realRef} --to ${realRef}`, 'expected another value'],
    [`--from ${realRef} --to XE-EXAMPLE-OURS`, 'of a real publisher'],
    ['--from fr --to french', 'expected two small letters'],
  ])('is not changed with %s', async (args, why) => {
    expect(await ours.run(`publisher change ${args} --confirm`)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(why),
    })
  })

  it('is changed by a person: identifiers stay, and the earlier publisher is an other-identifier', async () => {
    const [second, third] = ['GB-CHC-2000001', 'GB-COH-03000001']
    const looked = await ours.run(`publisher change --from ${realRef} --to ${second}`)
    expect(looked).toMatchObject({ code: 1, stdout: expect.stringMatching(/1 published activities keep.*--confirm/s) })
    expect(await publish()).toMatchObject({ code: 0 })
    expect((await ours.run(`publisher change --from ${realRef} --to ${second} --confirm`)).code).toBe(0)
    expect(await publish()).toMatchObject({ code: 2, answer: { error: { code: 'publisher-differs' } } })
    await insertProjects(ours.store.db, [{ id: 8 }])
    expect(await publish({ REPORTING_ORG_REF: second })).toMatchObject({ answer: { state: 'published', held: 0 } })
    const identifiers = async () =>
      [...(await ours.read('/iati/activities.xml')).matchAll(/<iati-identifier>.*?<activity-status/gs)].map(
        ([record]) => [
          /<iati-identifier>([^<]+)/.exec(record)?.[1],
          /<reporting-org ref="([^"]+)/.exec(record)?.[1],
          ...[...record.matchAll(/<other-identifier ref="([^"]+)" type="B1"/g)].map(([, ref]) => ref),
        ],
      )
    expect(await identifiers()).toEqual([
      [`${realRef}-7`, second, realRef],
      [`${second}-8`, second],
    ])
    expect((await ours.run(`publisher change --from ${second} --to ${third} --confirm`)).code).toBe(0)
    const asThird = { REPORTING_ORG_REF: third }
    expect(await publish(asThird)).toMatchObject({ answer: { state: 'published', held: 0 } })
    expect(await identifiers()).toEqual([
      [`${realRef}-7`, third, realRef, second],
      [`${second}-8`, third, second],
    ])
    const audited = (await ours.run('audit')).stdout
    expect(audited).toMatch(/publisher-changed/)
    expect(await ours.run(`releases rollback ${firstRelease}`, asThird)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`is of ${realRef}, and this store publishes as ${third}`),
    })
    expect((await ours.run(`publisher change --from ${third} --to ${realRef} --confirm`)).code).toBe(0)
  })

  it('has another type and language once a person has confirmed them', async () => {
    for (const args of ['--from 22 --to 24', '--from fr --to es']) {
      expect((await ours.run(`publisher change ${args} --confirm`)).code).toBe(0)
    }
    const changed = { REPORTING_ORG_TYPE: '24', DEFAULT_LANGUAGE: 'es' }
    expect(await publish(changed)).toMatchObject({ code: 0, answer: { state: 'published' } })
    expect(await ours.read('/iati/activities.xml')).toMatch(
      /xml:lang="es".*<reporting-org ref="GB-CHC-1164883" type="24"/s,
    )
    for (const args of ['--from 24 --to 22', '--from es --to fr']) {
      await ours.run(`publisher change ${args} --confirm`)
    }
    expect(await publish()).toMatchObject({ code: 0 })
  })

  it('goes with an export of the store', async () => {
    const other = await commandStore(variables)
    const folder = path.join(ours.folder, 'export')
    expect((await ours.run(`export ${folder}`)).code).toBe(0)
    expect((await other.run(`import ${folder}`)).code).toBe(0)
    expect((await other.json('publisher show')).answer).toMatchObject({ ...identity, earlier: { length: 7 } })
    expect(await other.json('publish --inline', { DEFAULT_CURRENCY: 'USD' })).toMatchObject({ code: 2 })
    await other.remove()
  })

  it('of a store from before there was a record is the one of its live release', async () => {
    await ours.store.db.query('delete from publisher')
    expect(await publish({ DEFAULT_CURRENCY: 'USD' })).toMatchObject({
      code: 2,
      answer: { error: { message: expect.stringContaining('DEFAULT_CURRENCY is USD, and this store has EUR') } },
    })
    expect((await ours.json('publisher show')).answer).toMatchObject(identity)
  })
})

// One story: each test goes on from where the one before it has left the store.
describe.runIf(runsAll)(
  'a store that published the demo under a real identifier, as versions before 1.1 did',
  {
    shuffle: false,
  },
  () => {
    let ours: CommandStore
    let demoRelease = ''
    const ref = mappingConfig.reportingOrg.ref

    let bucket: BucketServer

    beforeAll(async () => {
      bucket = await startBucketServer()
      ours = await commandStore({
        ...{ REPORTING_ORG_REF: ref, PUBLISH_MAX_LOSS_PERCENT: '1', FEEDS_S3_BUCKET: 'giving' },
        ...{ FEEDS_S3_ENDPOINT: bucket.settings.endpoint ?? '', FEEDS_S3_ACCESS_KEY_ID: 'S3RVER' },
        FEEDS_S3_SECRET_ACCESS_KEY: 'S3RVER',
      })
      await seedSome(ours)
      const earlier = await testPublisher(ours.store, { feedsDir: ours.feedsDir })
      expect((await earlier.publish()).state).toBe('published')
      demoRelease = (await ours.live()).id
      const settings = { ...ours, clock: () => new Date('2026-11-21T03:00:00Z'), bucket: bucket.settings }
      const deliver = () => deliverRelease(settings, new AbortController().signal)
      const { endpoint, name } = bucket.settings
      const states: unknown[] = []
      bucket.onWrite = async () => states.push(await findBucketState(ours.store.db)) % 7 !== 0
      expect(await deliver()).toBe(`release ${demoRelease} delivered`)
      expect(states[0]).toEqual({ target: `${endpoint} ${name}`, begun: demoRelease })
      expect(await deliver()).toBe('up to date')
    })
    afterAll(async () => {
      await bucket[Symbol.asyncDispose]()
      await ours.remove()
    })
    const inBucket = async (file: string) => (await fetch(`${bucket.url}${file}`)).status

    it('says what to do in status and doctor, and withdraws it with giving reset-demo', async () => {
      expect(await ours.read('/iati/activities.xml')).toContain(`${ref}-9000001`)
      const why = `the store has 3 demo projects, which are invented, and REPORTING_ORG_REF is ${ref}: remove them with giving reset-demo`
      const status = await ours.json('status')
      expect([status.code, status.answer.needs]).toEqual([1, expect.arrayContaining([why])])
      expect((await ours.run('doctor')).stdout).toMatch(
        /^FIX +database: +the store has 3 demo.* -> giving reset-demo, then/m,
      )
      const delivered = [
        '/iati/activities.xml',
        `/feeds/releases/${demoRelease}/iati/activities.xml`,
        '/feeds/manifest.json',
      ]
      expect(await Promise.all(delivered.map(inBucket))).toEqual([200, 200, 200])
      expect(await ours.run('reset-demo')).toMatchObject({ code: 0, stdout: expect.stringContaining('is withdrawn') })
      expect(await createReleaseReader(ours.feedsDir).live()).toBeUndefined()
      expect(await Promise.all(delivered.map(inBucket))).toEqual([404, 404, 404])
    })

    it('publishes its own projects then, and never puts the demo back', async () => {
      await insertProjects(ours.store.db, [{ id: 7 }])
      expect(await ours.json('publish --inline')).toMatchObject({ code: 0, answer: { state: 'published' } })
      expect(await ours.read('/iati/activities.xml')).not.toContain(`${ref}-9000001`)
      expect(await inBucket('/iati/activities.xml')).toBe(200)
      const { id } = await ours.live()
      for (const title of ['Wells of two villages', 'Wells of three villages']) {
        expect(await inBucket(`/feeds/releases/${id}/iati/activities.xml`)).toBe(200)
        await ours.store.db.query('update project set title = $1', [title])
        expect(await ours.json('publish --inline')).toMatchObject({ code: 0 })
        // What is not on disk any more goes, but with the delivery after the one that replaced it.
        await rm(path.join(releaseFolder(ours.feedsDir).releases, id), { recursive: true, force: true })
      }
      expect(await inBucket(`/feeds/releases/${id}/iati/activities.xml`)).toBe(404)
      expect(await ours.run(`releases rollback ${demoRelease}`)).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(
          /is not made live under US-EIN-123456789: it has projects of the demo, such as .*-9000001/,
        ),
      })
    })
  },
)

describe('a store that published the demo beside projects of its own', () => {
  it('enters a publication without the demo with giving reset-demo', async () => {
    const { ref } = mappingConfig.reportingOrg
    const ours = await commandStore({ REPORTING_ORG_REF: ref, PUBLISH_MAX_LOSS_PERCENT: '1' })
    await seedSome(ours)
    await insertProjects(ours.store.db, [{ id: 7 }])
    await (await testPublisher(ours.store, { feedsDir: ours.feedsDir })).publish()
    const reset = await ours.json('reset-demo')
    expect(reset).toMatchObject({ code: 0, answer: { projects: 3, run: expect.any(Number) } })
    const { needs } = (await ours.json('status')).answer
    expect(needs).toContain('the live release still has the demo data that was removed: giving publish')
    expect(await ours.json('publish --wait')).toMatchObject({ code: 0, answer: { state: 'published' } })
    const published = await ours.read('/iati/activities.xml')
    expect(published.match(/<iati-identifier>[^<]+/g)).toEqual([`<iati-identifier>${ref}-7`])
    expect(JSON.stringify((await ours.json('status')).answer.needs)).not.toContain('demo')
    await ours.remove()
  })
})

describe('a release of a trial', () => {
  it('is neither approved nor put back under a real identifier', async () => {
    const trial = await commandStore({ REPORTING_ORG_REF: 'XE-EXAMPLE-OURS', PUBLISH_MAX_LOSS_PERCENT: '0' })
    await insertProjects(trial.store.db, [{ id: 7 }])
    const gift = (amount: number) =>
      trial.store.db.query(
        `insert into donation_month (project_id, month, currency, kind, source, amount, count, last_on)
          values (7, '2026-01-01', 'USD', 'gift', 'local', $1, 1, '2026-01-31')
          on conflict (project_id, month, currency, kind, source, funder_id) do update set amount = excluded.amount`,
        [amount],
      )
    await gift(100)
    const first = await trial.json('publish --inline')
    await gift(200)
    expect(await trial.json('publish --inline')).toMatchObject({ answer: { state: 'published' } })
    await gift(50)
    const held = await trial.json('publish --inline')
    expect(held.answer.state).toBe('held')
    const real = { REPORTING_ORG_REF: realRef }
    for (const args of [`approve ${held.answer.releaseId}`, `rollback ${first.answer.releaseId}`]) {
      expect(await trial.run(`releases ${args}`, real)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(
          `is not made live under ${realRef}: it is of the trial publisher XE-EXAMPLE-OURS`,
        ),
      })
      expect((await trial.run(`releases ${args}`)).code).toBe(0)
    }
    const registering = { REGISTRY_URL: 'http://127.0.0.1:9', REGISTRY_TOKEN: 'token', LICENCE_ID: 'cc-by' }
    expect(await trial.run('registry register', registering)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('a trial is registered nowhere'),
    })
    expect(await trial.json('publish --inline', real)).toMatchObject({
      code: 2,
      answer: { error: { code: 'demo-data-present', message: expect.stringContaining('published by a trial') } },
    })
    expect((await trial.run('reset-demo', real)).code).toBe(0)
    expect(await trial.json('publish --inline', real)).toMatchObject({ answer: { state: 'published' } })
    const published = await trial.read('/iati/activities.xml')
    expect(published).toContain(`<iati-identifier>${realRef}-7<`)
    expect(published).not.toMatch(/XE-EXAMPLE|"B1"/)
    await trial.remove()
  })

  it('from before 1.1, which looked like a registered one, is published anew', async () => {
    const trial = await commandStore({ REPORTING_ORG_REF: formerDemoRef })
    await insertProjects(trial.store.db, [{ id: 7 }])
    const reportingOrg = { ...mappingConfig.reportingOrg, ref: formerDemoRef }
    const before = await testPublisher(trial.store, {
      feedsDir: trial.feedsDir,
      mappingConfig: { ...mappingConfig, reportingOrg },
    })
    await before.publish()
    expect(await trial.read('/iati/activities.xml')).toContain(`${formerDemoRef}-7`)
    expect(await trial.json('publish --inline')).toMatchObject({ answer: { state: 'published' } })
    const published = await trial.read('/iati/activities.xml')
    expect(published).toContain('<iati-identifier>XE-EXAMPLE-INVENTED-7<')
    expect(published).not.toContain(formerDemoRef)
    expect((await trial.json('publisher show')).answer).not.toHaveProperty('ref')
    await trial.remove()
  })
})
