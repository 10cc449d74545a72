import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { submitDonation } from '../../../src/money/submit-donation.js'
import { adoptSchedule } from '../../../src/work/sql/schedules.js'
import { testApi } from '../../support/api/api.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { account, donationRequest, insertDonationTargets, testPayments } from '../../support/money/donations.js'
import { testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

/** The rows of each table that are of the one that the commands name; all others belong to somebody else. */
const named: Readonly<Record<string, string>> = {
  account: `email = 'a@b.org'`,
  api_key: `account_id = (select id from account where email = 'a@b.org')`,
  access_token: `api_key_id in (select k.id from api_key k join account a on a.id = k.account_id where a.email = 'a@b.org')`,
  account_grant: `account_id = (select id from account where email = 'a@b.org')`,
  account_code: `email = 'a@b.org' and purpose = 'reset'`,
  // Organisation 3, its project 103 and its gift are merged into organisation 1.
  organisation: 'id in (1, 3)',
  organisation_country: 'organisation_id in (1, 3)',
  project: 'id in (101, 103)',
  theme: `id = 'water'`,
  progress_report: 'project_id = 101',
  imported_gift: 'project_id = 101',
  imported_month: 'project_id = 101',
  donation_month: 'project_id = 101',
  disbursement: 'project_id = 101',
  payout_plan: 'project_id = 101',
  import_source: `name = 'a'`,
  import_source_file: `source = 'a'`,
  import_source_record: `source = 'a'`,
  schedule: `name = 'publish'`,
  donation: 'project_id = 101',
  donation_refund: 'donation_id in (select id from donation where project_id = 101)',
  sandbox_refund:
    'reference in (select r.reference from donation_refund r join donation d on d.id = r.donation_id where d.project_id = 101)',
  donor: 'donation_id in (select id from donation where project_id = 101)',
  receipt_mail: 'donation_id in (select id from donation where project_id = 101)',
}

const ofA = '--email a@b.org'

/** What a person types; `{name}` is a value of the test. Each changes something of the one that it names. */
const lines: readonly string[] = [
  `users timeout ${ofA} --token-timeout 3h`,
  `users grant partner-codes ${ofA}`,
  `users revoke-grant donations ${ofA}`,
  `users reset-password ${ofA}`,
  `users disable ${ofA}`,
  `users enable ${ofA}`,
  `keys issue ${ofA}`,
  'keys revoke --id {key}',
  `users password ${ofA} --password-stdin --revoke-keys`,
  'projects set 101 --state retired',
  'projects set 101 --state stated',
  'organizations set 1 --vetted no',
  'themes map water 14031 --humanitarian',
  'themes rename water Wells',
  'gifts correct G-a --amount 30',
  'gifts remove G-a',
  'disbursements correct D-a --amount 26',
  'disbursements remove D-a',
  'reports correct R-a --title New',
  'reports remove R-a',
  'imports undo {import}',
  'organizations merge 1 3',
  'sources refuse a',
  'sources run a <- D-a1 D-a3',
  'sources approve a',
  'sources run a',
  'sources add a --kind disbursements --from {folder}/a.csv --schedule 30·3·*·*·*',
  'sources remove a',
  'schedules pause publish',
  'schedules resume publish',
  'donations receipt {donation}',
  'donations refund {donation}',
  `donors erase ${ofA}`,
]

describe('a command that changes one of two', async () => {
  const { store, url } = await testDatabase()
  const values: Record<string, string> = {}
  const folder = await temporaryFolder()
  values.folder = folder
  const api = await testApi(store, { clock: () => new Date() })

  const giving = async (line: string, input = 'eight louder mountains') => {
    const args = line.split(' ').map((word) => word.replaceAll('·', ' '))
    const ended = await runCommandLine(
      [...args, '--json'],
      {
        ...{ DATABASE_URL: url, GIVING_DATA_DIR: path.join(folder, 'data'), LOG_LEVEL: 'silent' },
        ...{ REPORTING_ORG_REF: 'XE-EXAMPLE-1', SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'a@giving.example' },
        DONOR_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
      },
      input,
    )
    // 1: a file is held.
    expect({ line, ...ended }).toMatchObject({
      line,
      code: line.startsWith('sources run') ? expect.toBeOneOf([0, 1]) : 0,
    })
    return JSON.parse(ended.stdout) as Record<string, unknown>
  }
  const write = async (name: string, ...rows: readonly string[]) => {
    const file = path.join(folder, name)
    await writeFile(file, rows.map((row) => `${row}\n`).join(''))
    return file
  }
  const payouts = (name: string, ...references: readonly string[]) => {
    const project = name.startsWith('a') ? 101 : 102
    const rows = references.map((reference) => `${project},2026-03-05,1.00,USD,${reference}`)
    return write(name, 'project,date,amount,currency,reference', ...rows)
  }

  /** An account with a key, a grant, a token and a code. */
  async function makeAccount(email: string): Promise<void> {
    const password = 'five quiet harbours'
    const { apiKey } = await giving(`users create --email ${email} --password-stdin`, password)
    for (const grant of ['donations', 'donation-notes']) await giving(`users grant ${grant} --email ${email}`)
    const auth_request = { user: { email, password }, api_key: apiKey }
    const headers = { 'content-type': 'application/json' }
    const payload = JSON.stringify({ auth_request })
    const answer = await api.app.inject({ method: 'POST', url: '/api/userservice/tokens', payload, headers })
    expect(answer.statusCode).toBe(200)
    await giving(`users invite --email ${email}`)
    if (email !== 'a@b.org') await giving(`users reset-password --email ${email}`)
  }

  async function makeRecords(): Promise<void> {
    await giving(
      `import ${await write('organizations.ndjson', ...[1, 2, 3].map((id) => JSON.stringify({ id, name: `Trust ${id}`, vetted: 'yes', countries: ['KE'] })))}`,
    )
    await giving(`import ${await write('themes.csv', 'id,name,sector', 'water,Water,14030', 'bees,Bees,31194')}`)
    const projects = [101, 102, 103].map((id) => `${id},Wells ${id},active,${id - 100},1000`)
    await giving(`import ${await write('projects.csv', 'id,title,status,organization,goal', ...projects)}`)
    const undone = await giving(
      `import ${await write('plans.csv', 'project,date,amount,currency,reference', '101,2027-03-31,5,USD,P-a')} --kind payout-plans`,
    )
    values.import = String(undone.import)
    for (const [one, project] of [
      ['a', 101],
      ['b', 102],
    ] as const) {
      if (one === 'b')
        await giving(
          `import ${await write('plans.csv', 'project,date,amount,currency,reference', '102,2027-03-31,5,USD,P-b')} --kind payout-plans`,
        )
      await giving(
        `import ${await write('gifts.csv', 'project,date,amount,currency,reference', `${project},2025-03-05,25.00,USD,G-${one}`, `${project},2025-03-06,75.00,USD,H-${one}`)}`,
      )
      await giving(
        `disbursements import ${await write('payouts.csv', 'project,date,amount,currency,reference', `${project},2026-03-05,25.00,USD,D-${one}`)}`,
      )
      await giving(
        `import ${await write('reports.csv', 'url,project,externalId,title,author,published,html', `https://p.example/r/${project},${project},R-${one},First well,Ama,2026-01-05,<p>Done.</p>`)} --kind reports`,
      )
      const file = await payouts(`${one}.csv`, `D-${one}1`, `D-${one}2`)
      await giving(`sources add ${one} --kind disbursements --from ${file} --schedule 30·1·*·*·* --complete`)
      await giving(`sources run ${one}`)
      // A file with one record less is held.
      await payouts(`${one}.csv`, `D-${one}1`)
      await giving(`sources run ${one}`)
    }
  }

  async function makeDonations(): Promise<void> {
    const payments = testPayments(store, { clock: () => new Date('2026-05-05T08:00:00Z'), mailsReceipts: true })
    const keyId = await insertDonationTargets(store.db, [])
    for (const [email, id] of [
      ['a@b.org', 101],
      ['c@d.org', 102],
    ] as const) {
      const request = donationRequest({ email, project: { id }, amount: 10 })
      await submitDonation(payments, { account, keyId, requestId: randomUUID() }, request)
    }
    const { rows } = await store.db.query<{ id: number }>('select id from donation where project_id = 101')
    values.donation = String(rows[0]?.id)
  }

  /** All rows of the tables, those of the one that is named and those of others. */
  async function rows(): Promise<{ readonly ours: object; readonly others: object }> {
    const [ours, others]: [Record<string, unknown>, Record<string, unknown>] = [{}, {}]
    for (const [table, where] of Object.entries(named)) {
      const { rows: found } = await store.db.query<{ ours: boolean; row: object }>(
        `select coalesce(${where}, false) as ours, to_jsonb(t) as row from ${table} t order by t::text`,
      )
      ours[table] = found.filter((one) => one.ours).map(({ row }) => row)
      others[table] = found.filter((one) => !one.ours).map(({ row }) => row)
    }
    return { ours, others }
  }

  it('leaves the other as it is', async () => {
    for (const email of ['a@b.org', 'c@d.org', 'gone@d.org']) await makeAccount(email)
    await giving('users disable --email gone@d.org')
    await makeRecords()
    await makeDonations()
    const at = new Date('2026-01-01T00:00:00Z')
    for (const name of ['publish', 'sync'])
      await adoptSchedule(store.db, name, { expression: '0 2 * * *', timezone: 'UTC' }, at)
    const { rows: keys } = await store.db.query<{ id: number }>(`select id from api_key k where ${named.api_key}`)
    values.key = String(keys[0]?.id)
    const first = await rows()
    for (const [table, found] of Object.entries(first.others)) {
      if (!/refund/.test(table)) expect(found, table).not.toEqual([])
    }
    let before = first
    for (const row of lines) {
      const [line = '', file] = row.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '').split(' <- ')
      if (file !== undefined) await payouts('a.csv', ...file.split(' '))
      await giving(line)
      const after = await rows()
      expect.soft(after.others, line).toEqual(before.others)
      expect.soft(after.ours, `${line}: changes nothing`).not.toEqual(before.ours)
      before = after
    }
  })
})
