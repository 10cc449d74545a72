import { randomUUID } from 'node:crypto'
import { readdir, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { vi } from 'vitest'
import { openQueue, queueSettings } from '../../../jobs/queue.js'
import type { JobCall } from '../../../jobs/queue-worker.js'
import { work } from '../../../jobs/work.js'
import { getAccountId, recordGrant } from '../../../src/accounts/sql/account-administration.js'
import { CleanupStack } from '../../../src/cli/wiring/cleanup-stack.js'
import { workFields } from '../../../src/cli/wiring/open-work.js'
import { requestPublication } from '../../../src/cli/wiring/operator-actions.js'
import { openPayments } from '../../../src/cli/wiring/payments.js'
import { openPublication } from '../../../src/cli/wiring/publication.js'
import { openRuntime } from '../../../src/cli/wiring/runtime.js'
import { createStripeGateway } from '../../../src/extensions/stripe/stripe-gateway.js'
import { verifyPublished } from '../../../src/extensions/verify/verify-published.js'
import { createApiUser } from '../../../src/http/api/operations/create-api-user.js'
import type { Decimal } from '../../../src/kernel/money.js'
import type { Payments } from '../../../src/money/payments.js'
import { refundDonation } from '../../../src/money/refund-donation.js'
import { listDifferences } from '../../../src/money/sql/books-check.js'
import { migrate } from '../../../src/platform/database/migrate.js'
import type { Store } from '../../../src/platform/database/store.js'
import { pruneReleasesWhenIdle } from '../../../src/release/operate/prune-releases.js'
import { ActivityIndex } from '../../../src/release/read/activity-index.js'
import { createReleaseReader } from '../../../src/release/read/release-reader.js'
import { findStandingRollback } from '../../../src/release/sql/releases.js'
import { createOwner } from '../../../src/work/attempt.js'
import { enterDue, putInForce } from '../../../src/work/due.js'
import type { RunKind } from '../../../src/work/run.js'
import { nextDue } from '../../../src/work/schedule.js'
import { takeNextQueued } from '../../../src/work/sql/leases.js'
import { listen, testApi, testUser } from '../../support/api/api.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { donationFields, quick } from '../../support/money/donations.js'
import { stripeDelivery } from '../../support/money/webhook-deliveries.js'
import { openMailServer, readMail } from '../../support/servers/mail-server.js'
import { startStripe, stripeKeys } from '../../support/servers/stripe-server.js'
import { aRecord, startUpstream, apiKey as upstreamKey } from '../../support/servers/upstream-server.js'
import { insertProjects } from '../../support/store/catalogue.js'
import { emptyDatabase } from '../../support/store/database.js'
import { randomFrom } from '../../support/values/random.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'
import { projectRow, projectsHeader } from './mistakes.js'

const dayMs = 86_400_000
const from = Date.parse('2031-07-01T00:00:00Z')
const days = 366
const timeoutMs = 2_000
const ownProjects = [1, 2, 3, 4]
const imported = [11, 12]
const publisher = 'US-EIN-123456789'
const retentionDays = 120
const never = new AbortController().signal
const keyOf = (id: string) => `${id}:${Buffer.alloc(32, id).toString('base64')}`

/** What a year had, and what was wrong at its end. */
export type Year = {
  readonly happened: Readonly<Record<string, number>>
  readonly violations: readonly string[]
}

/**
 * Lives the year from 2031-07-01, whose February has 29 days, in one store: what happens on a day follows from the seed; the
 * rows of the table of work are done when they are due by the clock, in that order. Leases alone follow the clock of the
 * database, and the schedulers of the queue that of the wall: their jobs are handed to the rows here. Ids that are drawn anew in each
 * process (references of donations, tokens) do not follow from the seed; no choice depends on them.
 */
export async function liveYear(seed: number): Promise<Year> {
  await using cleanup = new CleanupStack()
  const at = (instant: number | Date) => void vi.setSystemTime(instant)
  vi.useFakeTimers({ toFake: ['Date'], now: from })
  cleanup.defer(async () => void vi.useRealTimers())
  const random = randomFrom(seed)
  const chance = (share: number) => random() < share
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T
  const happened: Record<string, number> = {}
  const count = (what: string, by = 1) => {
    happened[what] = (happened[what] ?? 0) + by
  }
  const violations: string[] = []
  const judge = (right: boolean, what: string) => {
    if (!right) violations.push(`${new Date().toISOString()}: ${what}`)
  }

  // Two upgrades: rows of the platform from before each of them go on to live. Programs of those times have no clock to set;
  // upgrades.test.ts runs them.
  const { store, url, drop } = await emptyDatabase()
  cleanup.defer(drop)
  await migrate(store, undefined, 1)
  await insertProjects(store.db, [{ id: 1 }, { id: 2 }])
  await bookEarlierGifts(store, [1, 2])
  await migrate(store, undefined, 57)
  await insertProjects(store.db, [{ id: 3 }, { id: 4 }])
  await bookEarlierGifts(store, [3, 4])
  await migrate(store)

  const folder = await temporaryFolder()
  const upstream = await startUpstream({ records: [1001, 1002].map((id) => aRecord(id)) })
  cleanup.defer(upstream.close)
  const stripe = await startStripe()
  cleanup.defer(stripe.close)
  const { ledger } = stripe
  ledger.now = () => Date.now()
  const mail = await openMailServer()
  cleanup.defer(mail.close)
  const environment: Record<string, string> = {
    ...{ DATABASE_URL: url, GIVING_DATA_DIR: folder, LOG_LEVEL: 'silent', BASE_URL: 'https://giving.example' },
    ...{ REPORTING_ORG_REF: publisher, PUBLISH_SCHEDULE: '0 2 * * *', PUBLISH_KEEP_RELEASES: '3' },
    FACTS_CONFIRMED: 'yes',
    ...{ UPSTREAM_URL: upstream.url, UPSTREAM_API_KEY: upstreamKey, UPSTREAM_RATE: '10000' },
    ...{ ALLOW_PRIVATE_NETWORKS: 'true', SMTP_URL: mail.url, MAIL_FROM: 'gifts@giving.example' },
    ...{ PAYMENT_GATEWAY: 'stripe', STRIPE_SECRET_KEY: 'sk_live_1', STRIPE_PUBLISHABLE_KEY: 'pk_live_1' },
    ...{ PLATFORM_FEE_PERCENT: '5', DONOR_KEYS: keyOf('a'), DONOR_RETENTION_DAYS: `${retentionDays}` },
    ...{ BACKUP_DIR: path.join(folder, 'backups'), BACKUP_KEEP: '3' },
  }
  const command = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCommandLine([...args, '--json'], environment)
    judge(code === 0, `giving ${args.join(' ')}: ${code} ${stdout}${stderr}`)
    return JSON.parse(stdout || '{}')
  }
  const importFile = async (name: string, header: string, ...rows: string[]) => {
    const file = path.join(folder, name)
    await writeFile(file, [header, ...rows, ''].join('\n'))
    await command('import', file)
    count('imports')
  }
  await importFile('organizations.csv', 'id,name,orgRef,country', '7,Tara Water Trust,GB-CHC-202918,SL')
  await importFile('themes.csv', 'id,name,sector', 'water,Clean Water,14031')
  const plan = { approvedDate: '2031-01-05', deadline: '2033-06-30', goal: '900000' }
  const importProject = (id: number, title: string) =>
    importFile('projects.csv', projectsHeader, projectRow(id, { ...plan, title }))
  for (const id of imported) await importProject(id, `Wells ${id}`)

  let worker = await startWorker(environment, stripe.address)
  cleanup.defer(() => worker.close())
  const restart = async () => {
    await worker.close()
    worker = await startWorker(environment, stripe.address)
    count('restarts')
  }
  const { apiKey } = await createApiUser(worker.api.deps, testUser)
  await recordGrant(store.db, await getAccountId(store.db, testUser.email), 'donations', new Date())
  const post = async (address: string, body: object) => {
    const answer = await worker.api.app.inject({ method: 'POST', url: address, payload: body })
    return { status: answer.statusCode, body: answer.json() }
  }
  const signIn = async () => {
    const { body } = await post('/api/userservice/tokens.json', {
      auth_request: { user: { email: testUser.email, password: testUser.password }, api_key: apiKey },
    })
    count('sign-ins')
    return body.auth_response.access_token as string
  }
  const donate = async (changes: Record<string, unknown> = {}) => {
    const donation = donationFields(
      { project: { id: pick([...ownProjects, ...imported]) }, amount: 10 + Math.floor(random() * 90), ...changes },
      { paymentGateway: 'stripe' },
    )
    const address = `/api/secure/givingservice/donationsclient.json?api_key=${apiKey}&api_token=${await signIn()}`
    // The answer of the processor gets lost now and then; the client asks again with the same number.
    if (chance(0.05)) ledger.losesAnswer = onceTrue()
    for (let tries = 0; tries < 3; tries++) {
      const { status } = await post(address, { donation })
      if (status === 200) break
      judge(status === 503 || status === 409, `a donation was answered with ${status}`)
    }
    count('recurring' in changes ? 'regular gifts' : 'donations')
  }
  const event = async (what: 'refunded' | 'lost', charge: (typeof ledger.charges)[number]) => {
    const { headers, payload } = stripeDelivery(what, charge, { at: new Date(), id: randomUUID(), live: true })
    const answer = await worker.api.app.inject({
      ...{ method: 'POST', url: '/api/public/payments/stripe', payload },
      headers: { ...headers, accept: 'application/json' },
    })
    judge(answer.statusCode === 200, `a webhook was answered with ${answer.statusCode} ${answer.body}`)
    count('webhooks')
  }
  const settled = async () =>
    (
      await store.db.query<{ id: number; reference: string; left: string }>(
        `select id, reference, amount - refunded as left from donation where status = 'settled' order by id`,
      )
    ).rows.filter(({ reference }) => ledger.approved(reference)[0]?.disputes.length === 0)

  /** What people do on a day; each at an hour of its own. */
  const happen = async (day: number) => {
    if (day % 91 === 30) await donate({ recurring: true, frequency: 'monthly', email: 'lina@example.org' })
    while (chance(0.2)) await donate({ email: `donor${day}@example.org` })
    const pickSettled = async () => {
      const gifts = await settled()
      return gifts.length > 0 ? pick(gifts) : undefined
    }
    const refunded = chance(0.06) && (await pickSettled())
    if (refunded) {
      const amount = chance(0.5) ? undefined : ('1.00' as Decimal)
      await refundDonation(worker.payments, { donationId: refunded.id, kind: 'refund', amount })
      count('refunds')
    }
    const refundedThere = chance(0.04) && (await pickSettled())
    if (refundedThere && Number(refundedThere.left) > 2) {
      const { reference } = refundedThere
      ledger.refundInConsole(reference, '2')
      await event('refunded', ledger.only(reference))
      count('refunds in the console')
    }
    const disputed = chance(0.01) && (await pickSettled())
    if (disputed) {
      const { reference } = disputed
      ledger.dispute(reference).status = 'lost'
      await event('lost', ledger.only(reference))
      count('lost disputes')
    }
    if (chance(0.1)) await importProject(pick(imported), `Wells of day ${day}`)
    if (chance(0.1)) {
      const gift = `${pick(imported)},${new Date().toISOString().slice(0, 10)},${1 + Math.floor(random() * 50)}.50,USD,G-${day}`
      await importFile('gifts.csv', 'project,date,amount,currency,reference', gift)
    }
    if (chance(0.2)) {
      const { id } = pick(upstream.state.records)
      const changed = aRecord(id, { title: `Mirrored on day ${day}`, modifiedDate: new Date().toISOString() })
      upstream.state.records = upstream.state.records.map((one) => (one.id === id ? changed : one))
    }
    if (chance(0.02)) upstream.state.records.push(aRecord(1003 + day))
    if (chance(0.2)) {
      await store.db.query('update project set summary = $2 where id = $1', [pick(ownProjects), `Day ${day}`])
    }
    if (chance(0.05)) {
      await store.db.query(
        `insert into progress_report (id, project_id, title, published_at, updated_at, content_html, url, source)
          values ($1, $2, 'Progress', $3, $3, '<p>It works.</p>', 'https://giving.example/reports/' || $1::bigint, 'local')`,
        [9000 + day, pick(ownProjects), new Date()],
      )
    }
    if (chance(0.01)) {
      const { rows } = await store.db.query<{ id: string }>(
        `select id from release where state = 'superseded' order by run_id desc limit 1`,
      )
      if (rows[0]) {
        await command('releases', 'rollback', rows[0].id)
        count('rollbacks')
      }
    }
    // Two months of a backup each night say what a year would.
    if (day === 60) environment.BACKUP_DIR = ''
    // What a start enters is done the next morning, which the last day does not have.
    if (day === 60 || (chance(0.03) && day < days - 1)) await restart()
    // Keys change twice: the new one comes first, every donor is encrypted with it, and a week later the old one goes.
    for (const [turn, [old, fresh]] of [
      ['a', 'b'],
      ['b', 'c'],
    ].entries()) {
      if (day === 100 + 150 * turn) {
        environment.DONOR_KEYS = `${keyOf(fresh ?? '')},${keyOf(old ?? '')}`
        await restart()
        await command('donors', 'rekey')
        count('key rotations')
      }
      if (day === 107 + 150 * turn) {
        environment.DONOR_KEYS = keyOf(fresh ?? '')
        await restart()
      }
    }
    if (new Date().toISOString().slice(5, 10) === '01-02') await command('donors', 'statements', '2031', '--mail')
  }

  /** Every identifier that was ever live, with its project and the release that had it first. */
  const promised = new Map<string, { readonly project: number; readonly since: string }>()
  const reader = createReleaseReader(path.join(folder, 'feeds'))
  const compareIdentifiers = async () => {
    const release = await reader.live()
    const index = release && (await ActivityIndex.read(release))
    if (!index) return judge(false, 'nothing is live')
    const now = new Map(
      Array.from({ length: index.count }, (_, row) => index.entry(row)).map((one) => [one.identifier, one.project]),
    )
    // What a rollback took down stays down until a release differs from it.
    const isRolledBack = (await findStandingRollback(store.db))?.releaseId === release.id
    for (const [identifier, { project, since }] of promised) {
      if (isRolledBack && since > release.id) continue
      judge(now.get(identifier) === project, `${identifier} of project ${project} is now of ${now.get(identifier)}`)
    }
    for (const [identifier, project] of now) {
      if (!promised.has(identifier)) promised.set(identifier, { project, since: release.id })
    }
  }

  for (let day = 0; day < days; day++) {
    const midnight = from + day * dayMs
    for (const { instant, act } of worker.dues(midnight, midnight + 9 * 3_600_000)) {
      at(instant)
      await act()
    }
    await compareIdentifiers()
    at(midnight + 10 * 3_600_000)
    for (const charge of ledger.approved())
      if (!charge.settled && Date.now() - charge.at > dayMs / 2) ledger.settle(charge)
    await happen(day)
    // Leases run out by the database's clock, which stays.
    await store.db.query(`update donation set lease_until = now() - interval '1 s' where lease_until > now();
      update donation_refund set lease_until = now() - interval '1 s' where lease_until > now()`)
    for (const { instant, act } of worker.dues(midnight + 20 * 3_600_000, midnight + 20 * 3_600_000 + 120_000)) {
      at(instant)
      await act()
    }
    at(midnight + dayMs - 1)
    await pruneReleasesWhenIdle({
      store,
      feedsDir: path.join(folder, 'feeds'),
      keepReleases: 3,
      clock: () => new Date(),
    })
  }

  at(from + days * dayMs + 3_600_000)
  for (const line of await store.snapshot((db) => listDifferences(db, 10))) judge(false, JSON.stringify(line))
  const one = async (sql: string) => Number((await store.db.query<{ n: string }>(sql)).rows[0]?.n ?? 0)
  const held = ledger
    .approved()
    .reduce((sum, charge) => sum + (charge.disputes.length > 0 ? 0 : ledger.left(charge)), 0)
  const booked = await one(`select 100 * (
    (select sum(amount + addon) from donation where status in ('settled', 'refunded'))
    - (select coalesce(sum(amount + addon), 0) from donation_refund where done_at is not null)) as n`)
  judge(booked === held, `the processor holds ${held} cents, the books ${booked}`)
  judge((await one(`select count(*) as n from donation where status = 'received'`)) === 0, 'donations are open')
  judge(
    (await one(`select count(*) as n from webhook_event where state in ('due', 'failed')`)) === 0,
    'webhooks are open',
  )
  judge(
    (await one('select count(*) as n from reconciliation_difference where accepted_at is null')) === 0,
    'the processor differs',
  )

  const numbers = mail.taken.flatMap((taken) => /^Message-ID: <([^>]+)>/im.exec(readMail(taken).headers)?.[1] ?? [])
  judge(new Set(numbers).size === numbers.length && numbers.length === mail.taken.length, 'a mail was sent twice')
  count('mails', numbers.length)
  // Nobody is thanked for what went back before the receipt was mailed.
  judge(
    (await one(`select count(*) as n from receipt_mail m join donation d on d.id = m.donation_id
      where m.sent_at is null and not (m.state = 'dropped' and d.status = 'refunded')`)) === 0,
    'receipts are open',
  )
  const old = new Date(Date.now() - (retentionDays + 1) * dayMs).toISOString()
  judge(
    (await one(`select count(*) as n from donor p join donation d on d.id = p.donation_id where d.received_at < '${old}'
      and not exists (select from donation_plan l where l.donation_id = d.id and l.state = 'active')`)) === 0,
    'donors are kept too long',
  )
  judge(
    (await one(`select count(*) as n from donor where key_id is distinct from 'c'`)) === 0,
    'donors have an old key',
  )

  const leapDay = `(d.received_at at time zone 'UTC')::date = '2032-02-29'`
  judge(
    (await one(
      `select count(*) as n from donation d join donation_plan_charge c on c.reference = d.reference where ${leapDay}`,
    )) > 0,
    'no regular gift was charged on 29 February',
  )

  const dues = await one(`select count(distinct due_at) as n from run where due_at is not null`)
  const pruned = await one(`select sum(count) as n from pruned_run`)
  judge(dues + pruned === days, `${dues + pruned} of ${days} daily publications`)
  judge((await one(`select count(*) as n from run where state not in ('published', 'unchanged')`)) === 0, 'runs failed')
  const failed = `select to_jsonb(s)::text as line from sync_run s where state not in ('done', 'skipped') order by id`
  for (const { line } of (await store.db.query<{ line: string }>(failed)).rows) judge(false, `a sync failed: ${line}`)

  const audited = async (action: string) =>
    await one(`select count(*) as n from audit_event where action = '${action}'`)
  for (const [action, what] of [
    ['sign-in', 'sign-ins'],
    ['release-rolled-back', 'rollbacks'],
    ['donors-rekeyed', 'key rotations'],
    ['records-imported', 'imports'],
  ] as const) {
    judge(
      (await audited(action)) === (happened[what] ?? 0),
      `${await audited(action)} of ${happened[what]} ${what} are audited`,
    )
  }

  const base = await listen(worker.api.app)
  const published = await verifyPublished({
    ...{ baseUrl: base, maxAgeHours: 36, now: new Date(), last: undefined, maxSeconds: 60, signal: never },
  })
  for (const finding of published.findings) judge(false, JSON.stringify(finding))
  await worker.publishNow({ force: false })
  const again = await worker.publishNow({ force: true })
  judge(again === 'unchanged', `everything mapped again is ${again}`)
  judge((await readdir(path.join(folder, 'feeds', 'releases'))).length <= 6, 'releases pile up')
  judge((await readdir(path.join(folder, 'backups'))).length <= 3, 'backups pile up')
  for (const [table, most] of Object.entries({
    run: 400,
    sync_run: 400,
    run_shard: 60,
    access_token: 5,
    search_change: 60,
  })) {
    const rows = await one(`select count(*) as n from ${table}`)
    judge(rows <= most, `${table} has ${rows} rows`)
  }
  count('identifiers', promised.size)
  count('megabytes', Math.ceil((await bytesOf(folder)) / 1e6))
  return { happened, violations }
}

type ProcessorAddress = Awaited<ReturnType<typeof startStripe>>['address']

/** The rows of the table of work as `giving worker` opens them, and the API, over the processor of the test. */
async function startWorker(environment: Record<string, string>, address: ProcessorAddress) {
  const cleanup = new CleanupStack()
  const runtime = await openRuntime(environment, workFields, { signal: never })
  cleanup.defer(async () => await runtime[Symbol.asyncDispose]())
  const { config, store, log, clock, databaseUrl, feedsDir } = runtime
  const publication = await openPublication(runtime)
  const gateway = { ...quick(createStripeGateway({ ...stripeKeys, timeoutMs, address })), name: 'stripe' }
  const payments: Payments = { ...(await openPayments(runtime)), gateway, timeoutMs }
  const settings = queueSettings({ config, databaseUrl })
  const queue = await openQueue(settings, log)
  cleanup.defer(() => queue.close())
  const { lockSeconds } = settings
  const owner = createOwner()
  const deps = {
    ...{ config, store, publication, log, clock, owner, lockSeconds, queue, payments },
    clockAgrees: async () => true,
  }
  const parts = work.flatMap((row) => {
    const open = row.open(deps)
    return open ? [{ ...open, schedules: row.schedules(config) }] : []
  })
  for (const { scheduled = [], schedules } of parts) {
    for (const runs of scheduled) {
      const schedule = Object.entries(schedules).find(([name]) => name === runs.schedule)?.[1]
      if (schedule) await putInForce(runs, schedule)
    }
  }
  const releases = createReleaseReader(feedsDir)
  const api = await testApi(store, { store, payments, clock, releases, feedsDir })
  let jobs = 0
  const callOf = (name: string, data: object, dueAt?: Date): JobCall => ({
    ...{ id: `${++jobs}`, name, data, signal: never, nextTryMs: 0, isLast: () => true, report: () => undefined },
    ...(dueAt && { dueAt }),
  })
  const takeUp = async (part: (typeof parts)[number], kind: RunKind) => {
    const next = await takeNextQueued(store.db, kind, lockSeconds)
    const [[name, job] = []] = Object.entries(part.jobs ?? {})
    return next && name && job ? await job(callOf(name, { runId: next.id, attempt: next.attempt })) : 'none'
  }
  return {
    api,
    payments,
    /** A publication that a person asks for; how it ended. */
    publishNow: async (options: { readonly force: boolean }) => {
      await requestPublication(runtime, options)
      const part = parts.find(({ jobs = {} }) => 'start' in jobs)
      return part ? await takeUp(part, 'publication') : 'none'
    },
    close: () => cleanup[Symbol.asyncDispose](),
    /** What is due in a part of a day, each schedule once. */
    dues: (after: number, until: number) =>
      parts
        .flatMap((part) =>
          Object.entries(part.schedules).map(([schedule, when]) => ({
            instant: nextDue(when, new Date(after)),
            act: async () => {
              const runs = part.scheduled?.find((one) => one.schedule === schedule)
              if (!runs) return void (await part.tick?.(callOf('tick', { schedule }, clock())))
              await enterDue(runs, clock())
              await takeUp(part, runs.kind)
            },
          })),
        )
        .filter(({ instant }) => instant.getTime() <= until)
        .sort((a, b) => a.instant.getTime() - b.instant.getTime()),
  }
}

/** Gifts from before the service was there, which the totals of the projects have in them. */
async function bookEarlierGifts(store: Store, projects: readonly number[]): Promise<void> {
  await store.db.query(
    `insert into donation_month (project_id, month, currency, kind, source, amount, count, last_on)
      select id, '2031-06-01', 'USD', 'opening', 'local', 1250.5, 0, '2031-06-01' from unnest($1::bigint[]) id`,
    [projects],
  )
}

function onceTrue(): () => boolean {
  let asked = 0
  return () => asked++ === 0
}

async function bytesOf(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true })
  const sizes = await Promise.all(names.map(async (name) => (await stat(path.join(folder, name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}
