import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import type { Element } from '../../src/kernel/xml/element.js'
import { parseElement, recordLimits } from '../../src/kernel/xml/reader.js'
import { defaultWriterRole, grantWriterRole } from '../../src/platform/database/writer-role.js'
import { createReleaseReader } from '../../src/release/read/release-reader.js'
import { runCommandLine } from '../support/commands/command-line.js'
import { testDatabase } from '../support/store/database.js'
import { temporaryFolder } from '../support/values/temporary-folder.js'
import { consoleToken, createFleet, type FleetProcess, until } from './support/fleet.js'
import { type Hands, type Mistake, mistakes, projectRow, projectsHeader, type Target } from './support/mistakes.js'
import { record, seeded } from './support/record.js'
import { scale } from './support/scale.js'

const projects = 20
const firstOwn = 101
const publishEvery = 10
const user = { email: 'ops@example.org', password: 'seven quiet rivers run' }
const settings = {
  REPORTING_ORG_REF: 'US-EIN-123456789',
  BASE_URL: 'https://giving.example',
  DONOR_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
}

test('an ordinary day: mistakes are named where they are made, and nothing false is published', async () => {
  const { store, url } = await testDatabase()
  const fleet = await createFleet({ DATABASE_URL: url, ...settings, PUBLISH_SCHEDULE: '* * * * *' })
  onTestFinished(fleet.end)
  const folder = await temporaryFolder()
  const environment = { DATABASE_URL: url, GIVING_DATA_DIR: fleet.dataDir, LOG_LEVEL: 'silent', ...settings }
  const command = async (args: readonly string[], input = '') => {
    const { code, stdout, stderr } = await runCommandLine(args, environment, input)
    return `${code} ${stdout}${stderr}`
  }
  const file: Hands['file'] = async (name, ...lines) => {
    const at = path.join(folder, name)
    await writeFile(at, `${lines.join('\n')}\n`)
    return await command(['import', at])
  }

  await mkdir(fleet.feedsDir, { recursive: true })
  const numbers = Array.from({ length: projects }, (_, index) => index + 1)
  await file('themes.csv', 'id,name,sector', 'water,Clean Water,14031')
  await file('organizations.csv', 'id,name,orgRef,country', '7,Tara Water Trust,GB-CHC-202918,SL')
  expect(await file('projects.csv', projectsHeader, ...numbers.map((id) => projectRow(id)))).toContain(
    `${projects} created`,
  )
  const gifts = numbers.map((id) => `${id},2026-02-05,${id}.50,USD,G-${id}`)
  expect(await file('gifts.csv', 'project,date,amount,currency,reference', ...gifts)).toMatch(/^0 /)
  await grantWriterRole(store.db, defaultWriterRole, new Date())
  const platform = new pg.Client({ connectionString: url })
  await platform.connect()
  onTestFinished(() => platform.end())
  await platform.query(`set role ${defaultWriterRole}`)
  for (const index of numbers.keys()) {
    const id = firstOwn + index
    await platform.query(
      `insert into project (id, active, status, title, summary, goal, funding, number_of_donations, approved_date)
        values (${id}, true, 'active', 'Tanks ${id}', 'Rain tanks', ${id}, 9, 1, '2026-01-05')`,
    )
    await platform.query(
      `insert into donation_month (project_id, month, currency, kind, amount, count, last_on)
        values (${id}, '2026-02-01', 'USD', 'gift', 9, 1, '2026-02-20')`,
    )
  }

  let service = await fleet.start('start')
  const publish = async () => {
    const told = await command(['publish', '--wait'])
    expect(told, service.output().slice(-3000)).toMatch(/^0 /)
  }
  await publish()
  const created = await command(
    ['users', 'create', '--email', user.email, '--password-stdin', '--json'],
    `${user.password}\n`,
  )
  const { apiKey } = JSON.parse(created.slice(2)) as { apiKey: string }
  expect(await command(['users', 'grant', 'donations', '--email', user.email])).toMatch(/^0 /)
  const reader = createReleaseReader(fleet.feedsDir)
  const published = async () => {
    const live = await (await reader.live())?.find('/iati/activities.xml')
    const { children } = parseElement((await live?.identity.text()) ?? '', recordLimits)
    return new Map(children.map((one) => [identifierOf(one), withoutTime(one)]))
  }
  const atFirst = await published()
  expect(atFirst.size).toBe(2 * projects)

  let token = ''
  const issueToken = async () => {
    const answer = await fetch(`${service.baseUrl}/api/userservice/tokens`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ auth_request: { user, api_key: apiKey } }),
    })
    return ((await answer.json()) as { auth_response: { access_token: string } }).auth_response.access_token
  }
  token = await issueToken()
  let restarts = 0
  const hands: Hands = {
    file,
    command: (...args) => command(args),
    sql: async (statement) =>
      await platform.query(statement).then(
        ({ rowCount }) => `taken: ${rowCount} rows`,
        (error: Error) => error.message,
      ),
    restart: async (variables) => {
      restarts++
      expect((await service.terminate()).code).toBe(0)
      const { child, ended, ready } = fleet.launch('start', variables)
      const wrong = fleet.processes.at(-1) as FleetProcess
      let code: unknown
      void ended.then((value) => {
        code = value
      })
      await Promise.race([
        ended,
        ready.then(() => until(async () => wrong.output().includes('this store has') || !wrong.running)),
      ])
      if (wrong.running) child.kill('SIGTERM')
      await ended
      const told = `${String(code)} ${wrong.output()}`
      service = await fleet.start('start')
      return told
    },
    http: async (address, body) => {
      const answer = await fetch(
        `${service.baseUrl}${address}${body === undefined ? '' : `?api_key=${apiKey}&api_token=${token}`}`,
        body === undefined
          ? {}
          : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
      )
      return `${answer.status} ${await answer.text()}`
    },
    click: async (address, { token: formToken, origin = service.consoleUrl } = {}) => {
      const at = service.consoleUrl + address.replace('LIVE', (await reader.live())?.id ?? '')
      const headers = { authorization: `Bearer ${consoleToken}` }
      const [, shown = ''] = /name="token" value="(\w+)"/.exec(await (await fetch(at, { headers })).text()) ?? []
      const answer = await fetch(at, {
        method: 'POST',
        redirect: 'manual',
        headers: { ...headers, origin, 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({ token: formToken ?? shown, name: 'Ola' }).toString(),
      })
      return `${answer.status} ${await answer.text()}`
    },
    notices: async (project) => {
      await publish()
      return await command(['projects', 'show', String(project)])
    },
  }

  const random = seeded('an ordinary day', Number(process.env.DAY_SEED) || undefined)
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)] as T
  // Each kind once where there are enough, in a random order; the rest is drawn.
  const drawn = [...mistakes.map((one) => [random(), one] as const)].sort(([a], [b]) => a - b).map(([, one]) => one)
  while (drawn.length < scale.mistakes) drawn.push(pick(mistakes))
  const faults: string[] = []
  const differing = async (except: string) => {
    const now = await published()
    const ids = new Set([...atFirst.keys(), ...now.keys()])
    return [...ids].filter((id) => id !== except && now.get(id) !== atFirst.get(id))
  }
  const beganAt = performance.now()
  let tried = 0
  const made = new Set<Mistake>()
  for (const mistake of drawn.slice(0, scale.mistakes)) {
    if (performance.now() - beganAt > scale.patienceMs) break
    const at: Target = {
      imported: 1 + Math.floor(random() * projects),
      own: firstOwn + Math.floor(random() * projects),
    }
    const told = await mistake.make(hands, at)
    tried++
    made.add(mistake)
    if (!mistake.named.test(told)) faults.push(`${mistake.name}: told ${told.slice(-600)}`)
    if (mistake.fix) {
      const held = `${settings.REPORTING_ORG_REF}-${at.imported}`
      for (const id of await differing(held)) faults.push(`${mistake.name} on ${held}: ${id} is published otherwise`)
      if ((await published()).get(held)?.includes('9999')) faults.push(`${mistake.name}: the placeholder is published`)
      await mistake.fix(hands, at)
    }
    if (tried % publishEvery !== 0) continue
    await publish()
    for (const id of await differing('')) faults.push(`after ${mistake.name}: ${id} is published otherwise`)
  }
  await publish()
  expect(faults).toEqual([])
  expect(await differing('')).toEqual([])

  // A change that is none of these is published by the next run, without anybody's help.
  const title = `Wells after ${tried} mistakes`
  expect(await file('projects.csv', projectsHeader, projectRow(1, { title }))).toMatch(/^0 /)
  const changed = `${settings.REPORTING_ORG_REF}-1`
  await until(async () => (await published()).get(changed)?.includes(title), 500)
  expect(await differing(changed)).toEqual([])
  expect((await service.terminate()).code).toBe(0)
  const { rows: runs } = await store.db.query<{ due: Date | null; state: string; code: string | null }>(
    `select due_at as due, state, error_code as code from run order by id`,
  )
  expect(
    runs.filter(({ state, code }) => !/^(?:published|unchanged)$/.test(state) && code !== 'publisher-differs'),
  ).toEqual([])
  const minutes = runs.flatMap(({ due }) => (due ? [due.getTime() / 60_000] : [])).sort((a, b) => a - b)
  const missed = minutes.filter((minute, index) => index > 0 && minute - (minutes[index - 1] ?? minute) > 1)
  expect(missed).toEqual([])
  const { rows: demo } = await store.db.query(`select id from project where source = 'demo'`)
  expect(demo).toEqual([])
  const { rows: booked } = await store.db.query('select id from donation')
  expect(booked).toEqual([])
  record({
    name: `mistakes of ${made.size} kinds on an ordinary day`,
    engine: 'PostgreSQL',
    tried,
    outcome: `each named where it was made; ${runs.length} runs, ${restarts} restarts, none missed; ${atFirst.size} activities as without them`,
  })
})

function identifierOf({ children }: Element): string {
  return children.find(({ name }) => name === 'iati-identifier')?.text ?? ''
}

/** An activity without the instant that it was last changed at, which fixing moves. */
function withoutTime({ attributes, ...element }: Element): string {
  const { 'last-updated-datetime': _, ...others } = attributes
  return JSON.stringify({ ...element, attributes: others })
}
