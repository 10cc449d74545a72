import { randomUUID } from 'node:crypto'
import { cp, readlink, rename, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { createPasswordHashing } from '../../../../src/accounts/passwords.js'
import { recordGrant } from '../../../../src/accounts/sql/account-administration.js'
import { createApiUser } from '../../../../src/http/api/operations/create-api-user.js'
import { listDifferences } from '../../../../src/money/sql/books-check.js'
import { releaseFolder } from '../../../../src/release/folder/release-folder.js'
import { createReleaseReader } from '../../../../src/release/read/release-reader.js'
import { consoleAt } from '../../../support/api/console.js'
import { donationFields, insertDonationTargets } from '../../../support/money/donations.js'
import { faultsOf, faultsOfRelease } from '../../../support/release/published-folder.js'
import { testPublisher } from '../../../support/release/publishing.js'
import { freePort } from '../../../support/servers/free-port.js'
import { startStripe, stripeKeys } from '../../../support/servers/stripe-server.js'
import { aRecord, startUpstream, apiKey as upstreamKey } from '../../../support/servers/upstream-server.js'
import { insertProjects } from '../../../support/store/catalogue.js'
import type { TestDatabase } from '../../../support/store/database.js'
import type { Fault } from './counted-calls.js'
import type { GivingProcesses, Outcome } from './giving-process.js'
import { mailTrial } from './mail-trial.js'
import { queueTrial } from './queue-trial.js'
import { endLeases, isPublished, openPlace, real, type Trial, untrueLedger } from './trial.js'

export const trials = {
  'a publication': publicationTrial,
  'a sync': syncTrial,
  'an import': importTrial,
  'a file sent to the console': uploadTrial,
  'a donation': donationTrial,
  'a page of the portal': portalTrial,
  'a publication through a queue in Redis': queueTrial,
  'receipts by mail': mailTrial,
} satisfies Record<string, (database: TestDatabase) => Promise<Trial>>

export type TrialName = keyof typeof trials
export const trialNames = Object.keys(trials) as TrialName[]

async function publicationTrial(database: TestDatabase): Promise<Trial> {
  const { store, feedsDir, place, close } = await openPlace(database, real)
  await insertProjects(
    store.db,
    Array.from({ length: 12 }, (_, index) => ({ id: index + 1 })),
  )
  const reader = createReleaseReader(feedsDir)
  let title = ''
  return {
    place,
    prepare: async (round) => {
      title = `Title of round ${round}.`
      await store.db.query('update project set title = $1 where id = 7', [title])
    },
    act: (processes, fault) => processes.run(['publish', '--inline'], fault),
    passTime: () => endLeases(store, 'run'),
    isDone: () => isPublished(reader, title),
    wrongAnyTime: async () => {
      const live = await reader.live()
      return live ? await faultsOfRelease(path.join(feedsDir, 'releases', live.id)) : []
    },
    wrongWhenDone: async () => [...(await faultsOf(feedsDir, store)), ...(await untrueLedger(store, 'run'))],
    close,
  }
}

async function syncTrial(database: TestDatabase): Promise<Trial> {
  const records = (round: number) =>
    Array.from({ length: 25 }, (_, index) => aRecord(index + 1, { title: `Title of round ${round}.` }))
  const upstream = await startUpstream({ records: records(0) })
  const { store, place, close } = await openPlace(database, {
    ...real,
    UPSTREAM_URL: upstream.url,
    UPSTREAM_API_KEY: upstreamKey,
    UPSTREAM_REQUESTS_PER_SECOND: '1000',
    ALLOW_PRIVATE_NETWORKS: 'true',
  })
  const titles = async () =>
    (await store.db.query<{ title: string }>('select distinct title from project')).rows.map(({ title }) => title)
  let title = ''
  return {
    place,
    prepare: async (round) => {
      title = `Title of round ${round}.`
      upstream.state.records = records(round)
    },
    act: (processes, fault) => processes.run(['sync', '--full', '--wait'], fault),
    passTime: () => endLeases(store, 'sync_run'),
    isDone: async () => (await titles()).every((one) => one === title),
    wrongAnyTime: async () => {
      const { rows } = await store.db.query<{ id: number }>(
        `select id from project where not exists (select from project_theme where project_id = id) or not active`,
      )
      return rows.map(({ id }) => `project ${id} is not whole`)
    },
    wrongWhenDone: async () => await untrueLedger(store, 'sync_run'),
    close: async () => {
      await upstream.close()
      await close()
    },
  }
}

async function importTrial(database: TestDatabase): Promise<Trial> {
  const { store, folder, place, close } = await openPlace(database, real)
  const file = path.join(folder, 'projects.csv')
  let title = ''
  const titles = async () =>
    (await store.db.query<{ title: string }>('select title from project')).rows.map(({ title }) => title)
  return {
    place,
    prepare: async (round) => {
      title = `Title of round ${round}.`
      const modified = new Date(Date.UTC(2026, 0, 1) + round * 1000).toISOString()
      const rows = Array.from(
        { length: 40 },
        (_, index) => `${index + 1},true,active,${title},8000.00,1250.00,37,${modified}`,
      )
      await writeFile(file, `id,active,status,title,goal,funding,numberOfDonations,modifiedDate\n${rows.join('\n')}\n`)
    },
    act: (processes, fault) => processes.run(['import', '--kind', 'projects', file], fault),
    isDone: async () => {
      const all = await titles()
      return all.length === 40 && all.every((one) => one === title)
    },
    wrongAnyTime: async () =>
      (await titles()).every((one) => one.startsWith('Title of round')) ? [] : ['half a record'],
    wrongWhenDone: async () => [],
    close,
  }
}

/** As a person does who sends the file again and confirms it whenever that went wrong. */
async function uploadTrial(database: TestDatabase): Promise<Trial> {
  const port = await freePort()
  const { store, place, close } = await openPlace(database, {
    OPS_PORT: String(port),
    DEFAULT_CURRENCY: 'USD',
    ...real,
  })
  await insertProjects(store.db, [{ id: 1 }])
  const browser = consoleAt(`http://127.0.0.1:${port}`)
  const service = servedApi()
  const size = 40
  let last = 0
  let done = false
  const wrong = async (least: number) => {
    const { rows } = await store.db.query<{ gifts: number; sum: number }>(
      `select (select count(*)::int from imported_gift) as gifts,
        (select coalesce(sum(amount), 0)::float8 from donation_month where kind = 'gift') as sum`,
    )
    const [{ gifts, sum } = { gifts: 0, sum: 0 }] = rows
    const differences = await store.snapshot((db) => listDifferences(db, 10))
    return [
      ...([least * size, last * size].includes(gifts) ? [] : [`${gifts} gifts after file ${last} with ${size}`]),
      ...(sum === gifts * 5.25 ? [] : [`${gifts} gifts of 5.25 are ${sum}`]),
      ...differences.map((difference) => JSON.stringify(difference)),
    ]
  }
  return {
    place,
    prepare: async (round) => {
      last = round
      done = false
    },
    act: (processes, fault) =>
      service.ask(processes, fault, async () => {
        const rows = Array.from({ length: size }, (_, at) => `1,2025-07-1${at % 9},5.25,USD,R${last}-${at}`)
        const file = ['project,date,amount,currency,reference', ...rows, ''].join('\n')
        const sent = await browser.sendFiles([['gifts.csv', file]], { name: 'Ana' })
        if (sent.status !== 303) return sent
        const answer = await browser.confirm(String(sent.headers.location), { name: 'Ana', do: 'import' })
        done = /^\/imports\/(?:\d+$|uploads\/.*after=)/.test(String(answer.headers.location))
        return { status: done ? 200 : 500, text: answer.text }
      }),
    isDone: async () => done,
    wrongAnyTime: () => wrong(last - 1),
    wrongWhenDone: () => wrong(last),
    close,
  }
}

async function donationTrial(database: TestDatabase): Promise<Trial> {
  const processor = await startStripe()
  const { address, ledger } = processor
  // A stand-in of a processor is refused beside a real publisher.
  const { store, place, close } = await openPlace(database, {
    PAYMENT_GATEWAY: 'stripe',
    PAYMENT_GATEWAY_URL: `https://localhost:${address.port}`,
    PAYMENT_GATEWAY_CA_FILE: address.caFile,
    PAYMENT_TIMEOUT_SECONDS: '5',
    STRIPE_SECRET_KEY: stripeKeys.secretKey,
    STRIPE_PUBLISHABLE_KEY: stripeKeys.publishableKey,
    STRIPE_WEBHOOK_SECRET: stripeKeys.webhookSecret,
    DONOR_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
  })
  await insertDonationTargets(store.db, [2045])
  const user = { email: 'ops@example.org', password: 'seven quiet rivers run', tokenTimeoutSeconds: 36_000 }
  const { apiKey } = await createApiUser({ store, clock: () => new Date(), passwords: createPasswordHashing() }, user)
  const { rows } = await store.db.query<{ id: number }>('select id from account where email = $1', [user.email])
  await recordGrant(store.db, rows[0]?.id ?? 0, 'donations', new Date())
  const service = servedApi()
  const signIn = async (address: string) => {
    const auth = { auth_request: { user: { email: user.email, password: user.password }, api_key: apiKey } }
    const answer = await post(`${address}/api/userservice/tokens`, auth)
    return answer.status === 200 ? String(JSON.parse(answer.text).auth_response.access_token) : answer
  }
  let transactionId = ''
  let answered: Answer = { status: 0, text: '' }
  return {
    place,
    prepare: async () => {
      answered = { status: 0, text: '' }
      transactionId = randomUUID()
    },
    act: (processes, fault) =>
      service.ask(processes, fault, async (address) => {
        const token = await signIn(address)
        if (typeof token !== 'string') return token
        const payment = { paymentGateway: 'stripe', paymentGatewayNonce: 'fake-valid-nonce' }
        const body = { donation: donationFields({ transactionId, amount: '42.50' }, payment) }
        const donations = `${address}/api/secure/givingservice/donationsclient?api_key=${apiKey}&api_token=${token}`
        answered = await post(donations, body)
        return answered
      }),
    passTime: async () => {
      await store.db.query(`update donation set lease_until = now() - interval '1 second' where status = 'received'`)
      for (const charge of ledger.charges) Object.assign(charge, { at: charge.at - 120_000 })
    },
    isDone: async () => {
      const { rows } = await store.db.query<{ status: string }>(
        'select status from donation where transaction_id = $1',
        [transactionId],
      )
      return answered.status === 200 && rows[0]?.status === 'settled'
    },
    wrongAnyTime: async () => {
      const references = ledger.approved().map(({ reference }) => reference)
      return references.length === new Set(references).size ? [] : ['a donation was charged twice']
    },
    wrongWhenDone: async () => {
      const { rows } = await store.db.query<{ open: number; settled: number }>(
        `select count(*) filter (where status = 'received') as open, count(*) filter (where status = 'settled') as settled
          from donation`,
      )
      const { open = 0, settled = 0 } = rows[0] ?? {}
      const charges = ledger.approved().length
      const differences = await store.snapshot((db) => listDifferences(db, 10))
      return [
        ...(open > 0 ? [`${open} donations are open`] : []),
        ...(settled === charges ? [] : [`${charges} charges, ${settled} settled donations`]),
        ...differences.map((difference) => JSON.stringify(difference)),
      ]
    },
    close: async () => {
      await processor.close()
      await close()
    },
  }
}

async function portalTrial(database: TestDatabase): Promise<Trial> {
  const { store, place, feedsDir, close } = await openPlace(database, real)
  await insertProjects(
    store.db,
    Array.from({ length: 12 }, (_, index) => ({ id: index + 1 })),
  )
  const service = servedApi()
  const pages = ['/', '/projects/3', '/projects/4', '/projects/5', '/projects?q=project', '/status']
  const paths = [...pages, '/iati/activities.xml', '/feeds/manifest.json']
  const known = new Map<string, string>()
  const answered = new Map<string, Answer>()
  const publisher = await testPublisher(store, { feedsDir })
  await publisher.publish()
  const { releases, current } = releaseFolder(feedsDir)
  const live = path.basename(await readlink(current))
  await cp(path.join(releases, live), path.join(releases, `${live}0`), { recursive: true })
  return {
    place,
    prepare: async (round) => {
      answered.clear()
      // Another release with the same content, so that nothing is remembered of it.
      await symlink(`releases/${live}${round % 2 === 0 ? '0' : ''}`, `${current}.new`)
      await rename(`${current}.new`, current)
    },
    act: (processes, fault) =>
      service.ask(processes, fault, async (address) => {
        for (const path of paths) answered.set(path, await get(`${address}${path}`))
        return [...answered.values()].find(({ status }) => status !== 200) ?? { status: 200, text: '' }
      }),
    isDone: async () => [...answered.values()].every(({ status }) => status === 200),
    wrongAnyTime: async () =>
      [...answered].flatMap(([path, { status, text }]) => {
        // The page about the service says the time.
        if (status === 200 && path === '/status') return []
        // Each process has another port, which the code on paper has too.
        const page = text
          .replaceAll(`${live}0`, live)
          .replaceAll(/http:\/\/[\w.]+:\d+/g, '')
          .replaceAll(/<figure class="qr">.*?<\/figure>/gs, '')
        if (status === 200 && !known.has(path)) known.set(path, page)
        if (status === 200) return known.get(path) === page ? [] : [`${path} is another page`]
        return status === 500 || status === 503 ? [] : [`${path} answered ${status}`]
      }),
    wrongWhenDone: async () => [],
    close,
  }
}

/** `giving api`, which is started again whenever it was killed. */
function servedApi() {
  let address: string | undefined
  return {
    ask: async (
      processes: GivingProcesses,
      fault: Fault | undefined,
      request: (address: string) => Promise<Answer>,
    ): Promise<Outcome> => {
      address ??= await processes.serve('api')
      await processes.count(fault)
      const { status, text } = await request(address).catch((error: unknown) => ({ status: 0, text: String(error) }))
      const outcome = await processes.report()
      if (outcome === 'killed') address = undefined
      return outcome === 'killed'
        ? outcome
        : { ...outcome, code: status === 200 ? 0 : 2, stderr: `${status}: ${text.slice(0, 300)}` }
    },
  }
}

type Answer = { readonly status: number; readonly text: string }

async function post(address: string, body: object): Promise<Answer> {
  const headers = { 'content-type': 'application/json', connection: 'close' }
  return await ask(address, { method: 'POST', headers, body: JSON.stringify(body) })
}

async function get(address: string): Promise<Answer> {
  return await ask(address, { headers: { connection: 'close' } })
}

async function ask(address: string, request: RequestInit): Promise<Answer> {
  const answer = await fetch(address, { ...request, signal: AbortSignal.timeout(60_000) })
  return { status: answer.status, text: await answer.text() }
}
