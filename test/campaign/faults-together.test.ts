import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync, gzipSync } from 'node:zlib'
import { expect, it, onTestFinished } from 'vitest'
import { demoReportingOrgRef } from '../../src/kernel/demo-publisher.js'
import { listDifferences } from '../../src/money/sql/books-check.js'
import { migrate } from '../../src/platform/database/migrate.js'
import { openStore, type Store } from '../../src/platform/database/store.js'
import { createReleaseReader } from '../../src/release/read/release-reader.js'
import { consoleAt } from '../support/api/console.js'
import { fillWithTemplates } from '../support/catalogue/import-undo.js'
import { runCommandLine } from '../support/commands/command-line.js'
import { faultsOf, faultsOfRelease } from '../support/release/published-folder.js'
import { emptyDatabase } from '../support/store/database.js'
import { temporaryFolder } from '../support/values/temporary-folder.js'
import { runCampaign } from './support/donation-faults/campaign.js'
import { askForRun, createFleet, runEnded } from './support/fleet.js'
import { installedPostgresMissing, startInstalledPostgres } from './support/installed-postgres.js'
import { killedAfter } from './support/killed-after.js'
import { record, seeded } from './support/record.js'
import { scaled } from './support/scale.js'
import { slowDisk, slowDiskMissing } from './support/slow-disk.js'

const seconds = scaled(1_800)
const gifts = scaled(20_000)
const rowsOfFile = Math.min(gifts, 1_000)
const operationsPerSecond = 40
const tenMinutes = 600_000

/** NODE_OPTIONS by which the clock of a process is wrong from SIGUSR2 to the next one, or at once. */
const clockThatJumps = (first = 0) => {
  const code = `const Real = Date
    let ahead = ${first}
    process.on('SIGUSR2', () => (ahead = ahead === 0 ? ${tenMinutes} : 0))
    globalThis.Date = class extends Real {
      constructor(...given) { super(...(given.length === 0 ? [Real.now() + ahead] : given)) }
      static now() { return Real.now() + ahead }
    }`
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` }
}

async function countGifts(store: Store) {
  const { rows } = await store.db.query<{ gifts: number; sum: number }>(
    `select (select count(*)::int from imported_gift) as gifts,
      (select coalesce(sum(amount), 0)::float8 from donation_month where kind = 'gift' and source = 'import') as sum`,
  )
  return rows[0] ?? { gifts: 0, sum: 0 }
}

it(`${seconds / 60} minutes of all faults in turn, under donations and publications`, { timeout: 7_200_000 }, async ({
  skip,
}) => {
  const missing = slowDiskMissing() ?? installedPostgresMissing()
  if (missing) return skip(missing)
  const random = seeded('all faults in turn', Number(process.env.FAULT_SEED ?? 20261129))
  const disk = await slowDisk(4_000)
  const cluster = path.join(disk.dir, 'postgres')
  await mkdir(cluster)
  const server = await startInstalledPostgres(cluster)
  await using store = openStore({ url: server.url, max: 6, applicationName: 'all faults' })
  await migrate(store)
  const folder = await temporaryFolder()
  await fillWithTemplates(store, folder)
  const before = await countGifts(store)
  const environment = {
    ...{ DATABASE_URL: server.url, GIVING_DATA_DIR: path.join(disk.dir, 'data'), LOG_LEVEL: 'info', OPS_TOKEN: '' },
    ...{ REPORTING_ORG_REF: demoReportingOrgRef, DEFAULT_CURRENCY: 'USD', PUBLISH_KEEP_RELEASES: '20' },
    PUBLISH_SCHEDULE: '*/20 * * * * *',
  }
  const giving = (...args: string[]) => runCommandLine(args, { ...environment, LOG_LEVEL: 'silent' })
  const fleet = await createFleet(environment)
  onTestFinished(async () => {
    disk.limit(0)
    await fleet.end()
    await server.stop()
  })
  const startWorker = () => fleet.start('worker', clockThatJumps())
  const startApi = () => fleet.start('api', clockThatJumps(-tenMinutes))
  let api = await startApi()
  const workers = await Promise.all([startWorker(), startWorker()])

  const drop = path.join(folder, 'drop')
  await mkdir(drop)
  const add = ['sources', 'add', 'office', '--kind', 'gifts', '--from', drop, '--schedule', '0 3 * * *']
  expect(await giving(...add)).toMatchObject({ code: 0 })
  const wrong: Record<'lost' | 'double' | 'torn', string[]> = { lost: [], double: [], torn: [] }
  const tell = (kind: keyof typeof wrong, what: string) => {
    console.log(`${kind}: ${what}`)
    wrong[kind].push(what)
  }
  let expected = 0
  const fileOf = (rows: number) => {
    const lines = Array.from(
      { length: rows },
      (_, at) => `${101 + (at % 2)},2025-0${7 + (at % 3)}-1${at % 9},5.25,USD,F${expected + at}`,
    )
    expected += rows
    return ['project,date,amount,currency,reference', ...lines, ''].join('\n')
  }
  /** The lock of a process that was killed ends with its session. */
  const runSource = async () => {
    await store.db.query('update import_source set lease_until = null')
    let last = await giving('sources', 'run', 'office')
    for (; last.stderr.includes('another process works on the source'); await sleep(1_000))
      last = await giving('sources', 'run', 'office')
    if (last.code !== 0) tell('lost', `the source: ${last.stderr}`)
  }
  const upload = async (file: string) => {
    const browser = consoleAt(api.consoleUrl)
    const sent = await browser.sendFiles([[`gifts.csv`, file]], { name: 'Ana' })
    const answer = await browser.confirm(String(sent.headers.location), { name: 'Ana', do: 'import' })
    return /^\/imports\/(?:\d+$|uploads\/.*after=)/.test(String(answer.headers.location))
  }
  const reader = createReleaseReader(fleet.feedsDir)
  const look = async (when: string) => {
    const now = await countGifts(store)
    const imported = now.gifts - before.gifts
    if (imported < expected) tell('lost', `${when}: ${expected - imported} of ${expected} gifts`)
    if (imported > expected) tell('double', `${when}: ${imported - expected} of ${expected} gifts`)
    const sum = now.sum - before.sum
    if (sum !== imported * 5.25) tell(sum > imported * 5.25 ? 'double' : 'torn', `${when}: ${imported} are ${sum} USD`)
    for (const one of await store.snapshot((db) => listDifferences(db, 10)))
      tell('torn', `${when}: ${JSON.stringify(one)}`)
    const live = await reader.live()
    const faults = live ? await faultsOfRelease(path.join(fleet.feedsDir, 'releases', live.id)) : []
    for (const one of faults) tell('torn', `${when}: ${one}`)
  }

  const signalled = async (begin: NodeJS.Signals, end: NodeJS.Signals) => {
    const pid = workers[Math.floor(random() * workers.length)]?.pid ?? 0
    process.kill(pid, begin)
    await sleep(20_000)
    process.kill(pid, end)
  }
  const faults: Record<string, () => Promise<void>> = {
    'a stranger': async () => {
      const at = (name: string) => path.join(folder, name)
      await rm(at('of-stranger.sql.gz'), { force: true })
      await giving('backup', at('of-stranger.sql.gz'))
      const text = gunzipSync(await readFile(at('of-stranger.sql.gz'))).toString('utf8')
      const sql = `{"name":"project\\" (id) from program 'touch ${folder}/attacked' --","columns":["id"]}`
      const files = {
        'backup.sql.gz': gzipSync(text.replace(/-- table .*/, `-- table ${sql}`)),
        'recipe.json': '{"kind":"gifts","columns":{"__proto__":"amount","project":"../../etc/passwd"}}',
        'gifts.xlsx': Buffer.from(`PK\u0003\u0004${'\0'.repeat(5_000)}`),
        'gifts.csv': `project,date,amount,currency,reference\n101,2025-07-10,1e999,USD,"=cmd|' /C calc'!A0"\n`,
      }
      for (const [name, content] of Object.entries(files)) await writeFile(at(name), content)
      const empty = await emptyDatabase()
      const there = { DATABASE_URL: empty.url, GIVING_DATA_DIR: at('of-stranger') }
      const answers = [
        await runCommandLine(['restore', at('backup.sql.gz')], there),
        await giving('import', at('gifts.csv'), '--recipe', at('recipe.json')),
        await giving('import', '--kind', 'gifts', at('gifts.xlsx')),
        await giving('import', '--kind', 'gifts', at('gifts.csv')),
      ]
      for (const { code, stderr } of answers)
        if (code === 0 || / {4}at /.test(stderr)) tell('torn', `a stranger: ${code} ${stderr}`)
      if (await readFile(at('attacked')).catch(() => undefined)) tell('torn', 'a stranger ran a program')
      await empty.drop()
    },
    'a source killed': async () => {
      await writeFile(path.join(drop, `gifts-${expected}.csv`), fileOf(rowsOfFile))
      await killedAfter(800 + random() * 4_000, environment, ['sources', 'run', 'office'])
      await runSource()
    },
    'an upload killed': async () => {
      const file = fileOf(rowsOfFile)
      const sending = upload(file).catch(() => false)
      await Promise.race([sending, sleep(random() * 3_000)])
      await api.kill()
      await sending
      api = await startApi()
      while (!(await upload(file).catch(() => false))) await sleep(1_000)
    },
    'a restore killed': async () => {
      const file = path.join(folder, `backup-${expected}.sql.gz`)
      const least = await countGifts(store)
      expect(await giving('backup', file)).toMatchObject({ code: 0 })
      const other = await emptyDatabase()
      const there = { DATABASE_URL: other.url, GIVING_DATA_DIR: await temporaryFolder() }
      await killedAfter(500 + random() * 5_000, there, ['restore', file])
      const again = await runCommandLine(['restore', file], { ...there, LOG_LEVEL: 'silent' })
      // The one that was killed may have been done: then the store is not empty.
      if (again.code !== 0 && !again.stderr.includes('a backup is restored into an empty store'))
        tell('torn', `a restore: ${again.stderr}`)
      if ((await countGifts(other.store)).gifts !== least.gifts) tell('lost', 'gifts of a restore')
      for (const one of await other.store.snapshot((db) => listDifferences(db, 10)))
        tell('torn', `a restore: ${JSON.stringify(one)}`)
      await other.drop()
    },
    'a worker stopped': () => signalled('SIGSTOP', 'SIGCONT'),
    'a clock wrong by ten minutes': () => signalled('SIGUSR2', 'SIGUSR2'),
    'a worker killed': async () => {
      const at = Math.floor(random() * workers.length)
      await workers[at]?.kill()
      workers[at] = await startWorker()
    },
  }
  const until = performance.now() + seconds * 1_000
  const money = { processor: 'sandbox', feedsDir: fleet.feedsDir, calm: 40, apartMs: tenMinutes } as const
  const most = { donations: Number.MAX_SAFE_INTEGER, kills: 0, drops: 0, seconds, seed: 20261129 }
  const donating = runCampaign(store, server.url, { ...money, ...most })
  donating.catch(() => undefined)
  const tried: Record<string, number> = {}
  let slow = 0
  while (performance.now() < until) {
    for (const [name, fault] of Object.entries(faults)) {
      if (performance.now() > until) break
      const isSlow = random() < 0.5
      disk.limit(isSlow ? operationsPerSecond : 0)
      if (isSlow) slow++
      await fault()
      await look(name)
      tried[name] = (tried[name] ?? 0) + 1
    }
  }
  disk.limit(0)
  const result = await donating
  if (expected < gifts) {
    await writeFile(path.join(drop, 'rest.csv'), fileOf(gifts - expected))
    await runSource()
  }
  const last = await runEnded(store, await askForRun(store))
  if (last.state !== 'published' && last.state !== 'unchanged') tell('lost', `the last run is ${last.state}`)
  await fleet.end()
  await look('at the end')
  for (const one of await faultsOf(fleet.feedsDir, store)) tell('torn', one)
  const { rows: runs } = await store.db.query<{ state: string; n: number }>(
    'select state, count(*)::int as n from run group by state order by state',
  )
  for (const one of result.lostAnswers) tell('lost', `the answer of ${one}`)
  if (result.open > 0) tell('lost', `${result.open} donations are open`)
  for (const one of result.chargedTwice) tell('double', `${one} was charged twice`)
  for (const one of result.differences) tell('torn', JSON.stringify(one))
  const sums = new Set([result.charges, result.settled, result.funding, result.months])
  if (sums.size > 1) tell('torn', `charges, settled, funding and months are ${[...sums]}`)
  const list = (counts: Record<string, number>) =>
    Object.entries(counts)
      .map(([name, n]) => `${name} ${n}`)
      .join(', ')
  record({
    name: `${seconds / 60} minutes of all faults in turn, clocks ten minutes apart: ${list(tried)}; ${slow} of them on a disk of ${operationsPerSecond} operations a second`,
    engine: 'PostgreSQL',
    tried: Object.values(tried).reduce((sum, n) => sum + n, 0),
    outcome:
      `${expected} gifts imported, ${result.sent} donations sent with ${result.kills} kills and ${result.drops} connections cut, ` +
      `runs: ${list(Object.fromEntries(runs.map(({ state, n }) => [state, n])))}; ` +
      `lost ${wrong.lost.length}, double ${wrong.double.length}, torn ${wrong.torn.length}`,
  })
  await server.stop()
  expect(wrong).toEqual({ lost: [], double: [], torn: [] })
})
