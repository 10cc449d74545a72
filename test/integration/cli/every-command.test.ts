import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { Command } from 'commander'
import { beforeAll, describe, expect, it } from 'vitest'
import { CommandLine } from '../../../src/cli/command-line.js'
import { registrationsFor } from '../../../src/cli/registrations.js'
import { testApi, testUser } from '../../support/api/api.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { donationFields, targetRecord } from '../../support/money/donations.js'
import { runsAll, someOf } from '../../support/runner/some-of.js'
import { testDatabase } from '../../support/store/database.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

/** A line as a person types it, its exit code, and what it says; `{name}` is what an earlier line has brought. */
type Row = readonly [line: string, code: number, says: RegExp]

/** What needs a process of its own, and the test that runs it. */
const inProcesses: Readonly<Record<string, string>> = {
  start: 'test/e2e/start.test.ts',
  api: 'test/integration/http/api/exhaustion.test.ts',
  worker: 'test/e2e/worker-processes.test.ts',
  'worker --processes': 'test/e2e/worker-processes.test.ts',
  // A role is one of the whole server.
  'migrate --writer-role': 'test/integration/platform/plain-sql.test.ts',
}

const newStore: readonly Row[] = [
  ['database show', 0, /timeline/],
  ['database accept', 0, /nothing stands|confirmed/],
  ['database accept --confirm', 0, /nothing stands|confirmed/],
  ['migrate --check', 0, /pending/],
  ['migrate', 0, /version/],
  ['status', 1, /nothing has been published yet/],
  ['doctor', 0, /PostgreSQL/],
  ['health', 1, /ECONNREFUSED/],
  ['health worker', 1, /live workers: 0/],
  ['imports list', 0, /nothing was imported|"imports":\[\]/],
  ['imports list --before 5 --limit 1', 0, /nothing was imported|\[\]/],
  ['imports show 1', 2, /there is no import 1/],
  ['imports undo 1 --dry-run', 2, /there is no import 1/],
  ['sources list', 0, /no source|\[\]/],
  ['sources show none', 2, /there is no source none/],
  ['sources remove none', 2, /there is no source none/],
  ['sources run none', 2, /there is no source none/],
  ['sources approve none --problems {folder}/why.csv', 2, /no file of a source none is held/],
  ['sources refuse none', 2, /no file of a source none is held/],
  ['export {folder}/empty', 0, /projects/],
  ['export donations --project 1 --since 2026-01-01', 2, /there is no project 1/],
  ['reset-demo', 0, /"projects":0/],
  ['runs list --limit 3', 0, /there has been no run yet|"runs":\[\]/],
  ['runs show 1', 2, /there is no publication run 1/],
  ['runs cancel 1', 2, /there is no publication run 1/],
  ['test-alarm', 2, /nobody is told of alarms/],
  ['schedules list', 0, /no worker has started yet|"schedules":\[\]/],
  ['schedules pause none', 2, /there is no schedule none/],
  ['schedules resume none', 2, /there is no schedule none/],
  ['sync --full --accept-loss --wait --progress', 2, /UPSTREAM_URL is not set/],
  ['sync status', 0, /never synced|"runs":\[\]/],
  ['releases list', 0, /no release yet|\[\]/],
  ['releases show x', 2, /there is no release x/],
  ['releases diff x y', 2, /there is no release x/],
  ['releases approve x', 2, /no release x is held/],
  ['releases rollback x', 2, /release x is not kept/],
  ['releases folder', 0, /feeds/],
  ['releases use-folder', 1, /"confirmed":false/],
  ['publisher show', 0, /nothing is recorded|configured/],
  ['publisher change --from a --to b --confirm', 2, /nothing is recorded/],
  ['registry status', 2, /REGISTRY_URL is not set/],
  ['registry register --dry-run', 2, /REGISTRY_URL is not set/],
  ['registry sync --dry-run', 2, /REGISTRY_URL is not set/],
  ['registry unregister --dry-run', 2, /REGISTRY_URL is not set/],
  ['explain 1', 2, /there is no project 1/],
  ['facts', 0, /nothing|"activities":0/],
  ['held', 0, /no project is held|"count":0/],
  ['held 5 --limit 3', 2, /project 5 is not held/],
  ['projects list', 0, /no projects|\[\]/],
  ['projects list --notice constructor', 2, /there is no notice constructor/],
  ['projects show 1', 2, /there is no project 1/],
  ['organizations list', 0, /no organisations|\[\]/],
  ['organizations show 1', 2, /there is no organisation 1/],
  ['donations list', 0, /no donations|\[\]/],
  ['donations show 1', 2, /there is no donation 1/],
  ['donations receipt --all-unknown', 2, /SMTP_URL is not set/],
  ['donations plans list --state active --limit 2', 0, /no plans|\[\]/],
  ['donations plans show 1', 2, /there is no plan 1/],
  ['donations plans cancel 1', 2, /there is no plan 1/],
  ['donors show --email a@b.org', 1, /nobody|"donations":\[\]/],
  ['donors statements 2025', 0, /"?2025/],
  ['donors statements 2025 --mail', 2, /SMTP_URL is not set/],
  ['donors statements 2025 --email nobody@example.org --pdf x.pdf', 2, /nobody with this e-mail has a gift of 2025/],
  ['reports show 1', 2, /there is no report 1/],
  ['gifts show x', 2, /no gift was imported/],
  ['disbursements show x', 2, /there is no payout x/],
  ['books check', 0, /the books agree|"differences":\[\]/],
  ['books reconcile --day 2026-11-21 --adopt --accept', 0, /sandbox/],
  ['payments check --nonce fake-valid-nonce', 0, /refund/],
  ['payments follow --charge x', 1, /unknown/],
  ['payments follow 1 --accept', 2, /there is no donation 1/],
  ['payments webhooks --state done --limit 1', 0, /no webhooks|\[\]/],
  ['sandbox show --limit 1', 0, /time/],
  ['sandbox time 2026-11-01', 0, /2026-11-01/],
  ['sandbox rate CHF 1.12', 0, /1\.12/],
  ['sandbox advance 2d --progress', 0, /2026-11-03/],
  ['sandbox card 1 2001', 2, /there is no donation 1/],
  ['sandbox dispute 1 open', 2, /there is no donation 1/],
  ['sandbox time now', 0, /time/],
  ['themes list', 0, /no themes|\[\]/],
  ['themes map none 14030 --humanitarian', 2, /the store has none yet/],
  ['standard show', 0, /2\.03/],
  ['standard pull --from ftp://x --progress', 2, /expected an https address, or http on this machine/],
  ['users list', 0, /no API user|\[\]/],
  ['keys list', 0, /no key|\[\]/],
  ['keys revoke --id 1', 1, /no such key|false/],
  ['keys revoke', 2, /either --id or --key-stdin\n\nUsage: giving keys revoke/],
  ['maintenance status', 0, /open|false/],
  ['audit --since 12h', 0, /store-exported/],
  ['completion bash', 0, /_giving/],
  ['validate {folder}/none.xml --progress', 2, /cannot read/],
  ['validate - --strict <<< <iati-activities version="2.03"/>', 1, /"valid":false/],
  ['import {folder}/none.csv --progress', 2, /could not be read|"brokenFiles":1/],
  ['import --template gifts', 0, /^project,date/],
  ['import --schema gifts', 0, /json-schema/],
  ['import - --kind gifts <<< x', 2, /"brokenFiles":1/],
  ['verify http://127.0.0.1:1/ --max-age 36h --max-time 1m --sample 5 --state {folder}/seen', 2, /ECONNREFUSED/],
  ['verify http://127.0.0.1:1/ --no-state --progress', 2, /ECONNREFUSED/],
  ['verify http://127.0.0.1:1/ --key {folder}/none', 2, /cannot be read as a public key/],
  ['restore {folder}/none.gz', 2, /cannot be read as a file of giving backup: ENOENT/],
]

const reading = '--decimal comma --date dd.mm.yyyy --encoding windows-1252 --map Nr=reference --missing empty'
// Options that may be repeated and take any text.
const anyText = ['--ignore-column', '--formerly', '--names']
const accountOf = '--email c@b.org'
const init =
  'init --file {folder}/.env --name Tara --ref XE-EXAMPLE-1 --currency EUR --language de --publisher-type 22 --confirm-facts --base-url https://a.example --from-upstream https://u.example'

const fullStore: readonly Row[] = [
  ['seed --projects 4 --progress', 0, /"projects":4/],
  ['publish --inline --progress', 0, /"state":"published"/],
  ['facts --confirm --progress', 0, /flow-type/],
  ['runs show 1', 0, /publication run finished/],
  ['releases list >r1=0.id', 0, /live/],
  ['releases show {r1}', 0, /activities/],
  ['projects list --state active --limit 1 --after 1 >p=projects.0.id', 0, /active/],
  ['projects show {p} --receipts', 0, /active/],
  ['explain {p} title', 0, /iati.md 1.2/],
  ['projects set {p} --state inactive', 0, /inactive/],
  ['organizations list --limit 1 >o1=organizations.0.id', 0, /vetted/],
  ['projects list --organization {o1}', 0, /demo/],
  ['projects list --notice deadline-unusable', 0, /no projects|\[\]/],
  ['organizations list --vetted yes --after {o1} >o2=organizations.0.id', 0, /vetted/],
  ['organizations show {o1}', 0, /vetted/],
  ['organizations set {o1} --vetted no', 0, /"vetted":false/],
  ['organizations merge {o1} {o2} --dry-run', 0, /"dryRun":true/],
  ['themes list', 0, /water/],
  ['themes map water 14031 --no-humanitarian', 0, /14031/],
  ['themes rename water Wells', 0, /Wells/],
  ['seed --projects 1', 0, /"projects":1/],
  ['publish --dry-run', 0, /"changed":\d+,"added":\d+,"elements":/],
  ['publish --inline --force', 0, /"state":"published"/],
  ['publish --wait --inline', 0, /"state":/],
  ['releases list >r2=0.id', 0, /superseded/],
  ['releases diff {r1} {r2}', 1, /"added":\{"count":[1-9]|added: [1-9]/],
  ['releases approve {r1} --accept-loss', 2, /is held/],
  ['releases rollback {r1}', 0, /./],
  ['releases use-folder --confirm', 0, /"confirmed":true/],
  [
    'import {folder}/gifts.csv --kind gifts --sheet Gifts --dry-run --problems {folder}/problems.csv',
    1,
    /"dryRun":true/,
  ],
  ['import {folder}/gifts.csv --repair --correct --force --photo-consent', 1, /"created":2/],
  [`import {folder}/gifts.csv --project {p} ${reading}`, 2, /Nr/],
  [
    'import {folder}/gifts.csv --recipe {folder}/recipe.json --dry-run --ignore-column none',
    2,
    /which --ignore-column names/,
  ],
  ['import {folder}/gifts.csv --recipe {folder}/recipe.json --formerly XM-1 --dry-run', 1, /"dryRun":true/],
  ['try {folder}/gifts.csv --kind gifts --sheet Gifts --out {folder}/trial.xml', 1, /"publishable":1/],
  [`try {folder}/gifts.csv --recipe {folder}/recipe.json --ignore-column x ${reading}`, 2, /Nr/],
  ['recipes guess {folder}/gifts.csv --kind gifts', 0, /"reference":"reference"/],
  ['recipes save office {folder}/recipe.json', 0, /"changed":true/],
  ['recipes save stripe {folder}/recipe.json', 2, /built in/],
  ['recipes save office {folder}/bad.json', 2, /expected a recipe in JSON/],
  ['recipes try {folder}/gifts.csv --recipe office', 1, /"preview":\[\{"line":2/],
  ['recipes list', 0, /office/],
  ['recipes show office', 0, /gifts/],
  ['recipes remove office', 0, /office/],
  ['recipes show office', 2, /giving recipes list/],
  ['imports list >i=imports.0.id', 0, /gifts.csv/],
  ['imports show {i}', 0, /gifts\.csv/],
  ['gifts show G-1', 0, /25/],
  ['gifts correct G-1', 2, /give at least one of --amount, --date/],
  ['gifts correct G-1 --amount 30 --date 2025-04-01', 0, /30/],
  ['gifts correct G-1 --date 2999-01-01', 2, /date.*2999-01-01/],
  ['gifts remove G-2', 0, /G-2/],
  ['import {folder}/reports.csv --kind reports', 0, /"created":1/],
  ['reports show R-1', 0, /Ama/],
  ['reports correct R-1 --title New --author Bo --published 2026-02-01', 0, /New/],
  ['reports correct R-1', 2, /give at least one of --title, --author, --published/],
  ['reports remove R-1', 0, /R-1|report/],
  ['disbursements import {folder}/payouts.csv', 1, /"created":1/],
  ['disbursements show D-1', 0, /25/],
  ['disbursements correct D-1 --amount 26 --date 2026-03-06', 0, /26/],
  ['disbursements remove D-1', 0, /D-1/],
  ['imports undo {i} --dry-run', 0, /"dryRun":true/],
  ['export {folder}/csv --kind projects --format csv --bom', 0, /projects.csv/],
  ['export {folder}/all --with-donors --with-accounts --progress', 0, /donors|resources/],
  ['export {folder}/since --since 2026-01-01', 0, /resources/],
  ['export {folder}/published --published', 0, /directory/],
  ['export {folder}/gifts.csv', 2, /^giving: cannot write into .*\n$/],
  ['export donations --project {target} --since 2026-01-01 --bom', 0, /Lina Okoro/],
  [
    `sources add a --kind gifts --from {folder}/gifts.csv --schedule 30·1·*·*·* ${reading} --complete --correct --photo-consent --guard 7 --secret-file {folder}/none --host-key SHA256:${'a'.repeat(43)}`,
    0,
    /"name":"a"/,
  ],
  [
    'sources add b --kind gifts --from {folder}/gifts.csv --schedule 30·1·*·*·* --dry-run --problems {folder}/why.csv',
    0,
    /./,
  ],
  [
    'sources add b --kind gifts --from {folder} --names gifts.csv --sheet Gifts --recipe {folder}/recipe.json --ignore-column none --schedule 30·1·*·*·* --dry-run',
    2,
    /which --ignore-column names/,
  ],
  ['sources add b --kind gifts --from {folder}/bad.json --schedule 30·1·*·*·* --dry-run', 2, /bad\.json: /],
  ['sources apply {folder}/bad.json --dry-run', 2, /bad.json: expected a file with JSON/],
  ['sources run a --dry-run --problems {folder}/why.csv', 2, /Nr/],
  ['sources show a', 0, /dd\.mm\.yyyy/],
  [`users create ${accountOf} --password-stdin --token-timeout 999999d <<< x`, 2, /of at most 24855d/],
  [`users create ${accountOf} --password-stdin --token-timeout 10h <<< seven·quiet·rivers`, 0, /apiKey/],
  [`users timeout ${accountOf} --token-timeout 3h`, 0, /timeout/],
  [`users password ${accountOf} --password-stdin --revoke-keys <<< eight·quiet·rivers`, 0, /password/],
  [`users reset-password ${accountOf} --expires 2h`, 0, /resetCode/],
  ['users invite --email d@b.org --expires 5d', 0, /invitation/],
  [`users grant donations ${accountOf}`, 0, /grant/],
  [`users revoke-grant donations ${accountOf}`, 0, /revoke-grant/],
  [`users disable ${accountOf}`, 0, /disable/],
  [`users enable ${accountOf}`, 0, /enable/],
  [`keys issue ${accountOf} --scope read --origin https://www.example.org --expires 90d >key=apiKey`, 0, /apiKey/],
  ['users list', 0, /c@b\.org/],
  ['keys list', 0, /lastUsedAt|; used /],
  [`keys list ${accountOf}`, 0, /www\.example\.org/],
  ['keys revoke --key-stdin <<< {key}', 0, /true/],
  ['keys signing create --file {folder}/first.pem', 0, /BEGIN PUBLIC KEY/],
  ['keys signing create --file {folder}/second.pem --replace {folder}/first.pem', 0, /BEGIN PUBLIC KEY/],
  ['keys signing create --file {folder}/first.pem', 2, /is there already/],
  ['maintenance on --minutes 5', 0, /"maintenance":true/],
  ['maintenance off', 0, /false/],
  ['donations list --project {target} --status settled --transaction tx-of-a-line --limit 3 >d=0.id', 0, /40/],
  ['donations show {d}', 0, /tx-of-a-line/],
  ['donations refund {d} --amount x', 2, /amount/],
  ['donations refund {d} --amount 10', 0, /10/],
  ['donations receipt {d} --pdf {folder}/receipt.pdf', 0, /receipt\.pdf/],
  ['donations refund {d} --chargeback', 0, /30/],
  ['donations receipt {d}', 2, /SMTP_URL is not set/],
  ['donors show --email lina@example.org', 0, /lina/i],
  ['donors export --email lina@example.org', 0, /lina/i],
  ['donors erase --email lina@example.org', 0, /"donations":1/],
  ['donors rekey --progress', 0, /"key":"test"/],
  ['backup {folder}/none/b.gz', 2, /^giving: cannot write .*\n$/],
  ['backup {folder}/b.gz', 0, /sha256/],
  ['backup {folder}/gifts.csv --verify', 2, /gifts.csv/],
  ['restore {folder}/b.gz', 2, /an empty store/],
  [`${init} --gateway stripe --mail-from a@b.example --schedule 0·4·*·*·*`, 1, /STRIPE/],
  ['init --demo --file {folder}/.env', 2, /is there already/],
  ['reset-demo', 0, /"projects":5/],
]

const noGifts = { funding: '0.00', numberOfDonations: 0 }

/** Commands that show something are read by people too. */
const shows = /(^| )(list|show|status|diff|folder|held|facts|audit|doctor|check)$/

const program = new Command('giving')
const nowhere = { stdout: process.stdout, stderr: process.stderr, stdin: process.stdin, environment: {} }
const commandLine = new CommandLine({ ...nowhere, signal: new AbortController().signal })
for (const register of await registrationsFor(undefined)) register(program, commandLine)

/** The command of a line and its name, without its arguments. */
function commandOf(line: string): { readonly name: string; readonly command: Command } {
  let command = program
  const names: string[] = []
  for (const word of line.split(' ')) {
    const inner = command.commands.find((one) => one.name() === word)
    if (!inner) break
    command = inner
    names.push(word)
  }
  return { name: names.join(' '), command }
}

/** Every command that does something. */
function actingCommands(command = program, name = ''): (readonly [string, Command])[] {
  const inner = command.commands.flatMap((one) => actingCommands(one, `${name} ${one.name()}`.trim()))
  const acts = inner.length === 0 || command.registeredArguments.length > 0 || command.options.length > 0
  return [...(acts ? [[name, command] as const] : []), ...inner]
}

function parsed(line: string, stdout: string): unknown {
  try {
    return JSON.parse(stdout)
  } catch {
    expect.soft(`${line}: ${stdout}`).toBe('JSON')
  }
}

/** What a JSON document consists of, whatever its values are; of several, what each may have. */
function shapeOf(documents: readonly unknown[], margin = '  '): string {
  const shapes = documents.map((one) => {
    if (typeof one === 'object' && one !== null) return Array.isArray(one) ? 'list' : 'object'
    return typeof one === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(one)
      ? 'instant'
      : one === null
        ? 'null'
        : typeof one
  })
  const objects = documents.flatMap((one, at) =>
    shapes[at] === 'object' ? [one as Readonly<Record<string, unknown>>] : [],
  )
  const lists = documents.flatMap((one) => (Array.isArray(one) ? [one as readonly unknown[]] : []))
  const names = [...new Set(objects.flatMap(Object.keys))].sort()
  const lines = names.map((name) => {
    const having = objects.filter((one) => Object.hasOwn(one, name))
    const mark = having.length < objects.length ? '?' : ''
    return `\n${margin}${name}${mark}: ${shapeOf(
      having.map((one) => one[name]),
      `${margin}  `,
    )}`
  })
  const items = lists.flat()
  const of = items.length > 0 ? `\n${margin}each: ${shapeOf(items, `${margin}  `)}` : ''
  return [...new Set(shapes)].sort().join(' or ') + lines.join('') + of
}

describe('every command and option, as a person types it', { shuffle: false }, async () => {
  const { store, url } = await testDatabase()
  const values: Record<string, string> = {}
  let environment: Record<string, string>
  beforeAll(async () => {
    values.folder = await temporaryFolder()
    environment = {
      ...{ DATABASE_URL: url, GIVING_DATA_DIR: path.join(values.folder, 'data'), LOG_LEVEL: 'silent' },
      ...{ REPORTING_ORG_REF: 'XE-EXAMPLE-1', PORT: '0', OPS_PORT: '0' },
      DONOR_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`,
    }
  })

  const type = async (row: string, changes: Record<string, string> = {}) => {
    const filled = row.replace(/\{(\w+)\}/g, (all, name: string) => values[name] ?? all)
    const [line = '', input = ''] = filled.split(' <<< ')
    const args = line.split(' ').map((word) => word.replaceAll('·', ' '))
    return await runCommandLine(args, { ...environment, ...changes }, input.replaceAll('·', ' '))
  }
  /** What commands said as JSON. */
  const documents = new Map<string, readonly unknown[]>()
  const run = async ([row, code, says]: Row) => {
    const [line = '', kept] = row.split(' >')
    const { name, command } = commandOf(line)
    const hasJson = command.options.some(({ long }) => long === '--json')
    const asked = hasJson && !/--(template|schema) /.test(line) ? line.replace(/( <<<|$)/, ' --json$1') : line
    const isRead = shows.test(name) && (runsAll || code !== 2)
    for (const one of new Set(isRead ? [asked, line] : [asked])) {
      const { stdout, stderr, ...ended } = await type(one)
      expect
        .soft({ one, code: ended.code, said: stdout + stderr })
        .toEqual({ one, code, said: expect.stringMatching(says) })
      expect.soft(stderr).not.toMatch(/\n {4}at |TypeError/)
      if (one === line || (code === 2 && stdout === '')) continue
      const document = parsed(one, stdout)
      if (hasJson) documents.set(name, [...(documents.get(name) ?? []), document])
      const [to = '', place = ''] = kept?.split('=') ?? []
      const value = place.split('.').reduce<unknown>((at, step) => (at as Record<string, unknown>)?.[step], document)
      if (to !== '') values[to] = String(value)
    }
  }

  it('in a new store', async () => {
    for (const row of newStore) await run(row)
  })

  it('in a full store', async () => {
    const write = (name: string, text: string) => writeFile(path.join(values.folder ?? '', name), text)
    await write('projects.json', JSON.stringify({ projects: { project: [{ ...targetRecord, ...noGifts }] } }))
    await run(['import {folder}/projects.json', 0, /"created":1/])
    values.target = String(targetRecord.id)
    const api = await testApi(store)
    await run([`users grant donations --email ${testUser.email}`, 0, /grant/])
    const ask = (address: string, body: object) =>
      api.app.inject({ method: 'POST', url: address, payload: body, headers: { accept: 'application/json' } })
    const { email, password } = testUser
    const token = await ask('/api/userservice/tokens', {
      auth_request: { user: { email, password }, api_key: api.apiKey },
    })
    const credentials = `api_key=${api.apiKey}&api_token=${token.json().auth_response.access_token}`
    const donation = donationFields({ project: { id: targetRecord.id }, transactionId: 'tx-of-a-line' })
    const given = await ask(`/api/secure/givingservice/donationsclient?${credentials}`, { donation })
    expect(given.statusCode, given.body).toBe(200)
    const gifts = [
      'project,date,amount,currency,settledAmount,kind,reference,count,funder',
      '2025-03-05,25.00,USD,,,G-1,,',
    ]
    await write(
      'gifts.csv',
      `${gifts[0]}\n${targetRecord.id},${gifts[1]}\n${targetRecord.id},2025-03-06,7.00,USD,,,G-2,,\n${targetRecord.id},2025-13-06,7.00,USD,,,G-3,,\n`,
    )
    const report = `https://p.example/r/1,${targetRecord.id},R-1,First well,Ama,2026-01-05,<p>Done.</p>`
    await write('reports.csv', `url,project,externalId,title,author,published,html\n${report}\n`)
    const payouts = `${targetRecord.id},2026-03-05,25.00,USD,D-1\n${targetRecord.id},2026-03-05,abc,USD,D-2\n`
    await write('payouts.csv', `project,date,amount,currency,reference\n${payouts}`)
    await write('bad.json', '{"x"')
    await write('recipe.json', '{"kind": "gifts"}')
    documents.clear()
    for (const row of fullStore) await run(row)
    const shapes = [...documents]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, of]) => `giving ${name}\n${shapeOf(of)}\n`)
    await expect(shapes.join('\n')).toMatchFileSnapshot('../../golden/commands-json.txt')
  })

  it('without a database: says so in a line, or needs none', async () => {
    const away = { DATABASE_URL: 'postgres://giving@127.0.0.1:1/giving' }
    const needless =
      /^(doctor|status|init|validate|standard|completion|verify|keys signing|releases list|sync|recipes guess|try)|--(template|schema) /
    const seen = new Set<string>()
    for (const [row] of someOf([...newStore, ...fullStore], 3)) {
      const [line = ''] = row.split(' >')
      const { name } = commandOf(line)
      if (seen.has(name) || needless.test(line)) continue
      seen.add(name)
      const { code, stderr, stdout } = await type(line, away)
      const said = `${stdout}${stderr}`
      expect.soft({ line, code, said }).toEqual({
        line,
        code: expect.toBeOneOf([1, 2]),
        said: expect.stringMatching(/ECONNREFUSED|expected|cannot|is not set|^error: give/),
      })
      expect.soft(stderr).not.toMatch(/\n {4}at |TypeError/)
    }
  })

  it('with a wrong value of each option that has a form: refused, with what was expected', async () => {
    for (const [name, command] of actingCommands()) {
      const options = command.options.filter(({ parseArg, long }) => parseArg !== undefined && long !== undefined)
      for (const option of options.filter(({ long = '' }) => !anyText.includes(long))) {
        const { code, stderr } = await type(`${name} ${option.long} no?such`)
        expect.soft({ name, code, stderr }).toEqual({
          name,
          code: 2,
          stderr: expect.stringContaining(`error: option '${option.flags}' argument 'no?such' is invalid. `),
        })
        expect(stderr).toMatch(/ (expected|Allowed choices are) /)
      }
    }
  })

  it('leaves none out', () => {
    const lines = [...newStore, ...fullStore].map(([line]) => line)
    const isRun = (name: string, long: string | undefined) =>
      lines.some((line) => commandOf(line).name === name && (long === undefined || line.split(' ').includes(long)))
    const missing = actingCommands().flatMap(([name, command]) =>
      [undefined, ...command.options.map(({ long }) => long).filter((long) => long !== '--json')]
        .filter((long) => !isRun(name, long))
        .map((long) => [name, long].filter(Boolean).join(' ')),
    )
    expect(missing).toEqual(Object.keys(inProcesses))
    for (const [name, file] of Object.entries(inProcesses))
      expect(readFileSync(file, 'utf8')).toContain(name.split(' ').at(-1))
  })
})
