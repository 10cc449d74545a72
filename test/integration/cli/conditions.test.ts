import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { needsOfApi } from '../../../src/cli/wiring/conditions.js'
import { workFields } from '../../../src/cli/wiring/open-work.js'
import { openPayments } from '../../../src/cli/wiring/payments.js'
import { openRuntime } from '../../../src/cli/wiring/runtime.js'
import { needsToTell } from '../../../src/cli/wiring/service-status.js'
import { type ConditionName, conditions } from '../../../src/kernel/conditions.js'
import { openConsole } from '../../support/api/console.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { layRelease } from '../../support/release/release.js'
import { insertProjects } from '../../support/store/catalogue.js'
import { testDatabase } from '../../support/store/database.js'
import { smallDisk } from '../../support/values/small-disk.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

const fact = (name: string, value: unknown) =>
  `insert into store_fact (name, value, recorded_at) values ('${name}', '${typeof value === 'string' ? value : JSON.stringify(value)}', now())
   on conflict (name) do update set value = excluded.value`
const source = (name: string, column: string, value: string) =>
  `insert into import_source (name, kind, location, schedule, next_due, tried_at, ${column}) values ('${name}', 'gifts', '/drop', '0 0 * * *', '2099-01-01', now(), ${value})`
const heldFile = (more: object) =>
  `'${JSON.stringify({ file: 'a.csv', sha256: 'x', before: 10, changed: 9, gone: 0, since: '2026-11-20', examples: [], ...more })}'`
const run = (state: string, more: string, values: string) =>
  `insert into run (trigger, state, queued_at, started_at, finished_at, ${more}) values ('manual', '${state}', now(), now(), now(), ${values})`
const schedule = (name: string, more: string, values: string) =>
  `insert into schedule (name, expression, timezone, adopted_at, ${more}) values ('${name}', '0 0 * * *', 'UTC', ${values})`
const sync = (state: string, more: string) =>
  `insert into sync_run (kind, trigger, upstream, state, queued_at, started_at, finished_at, reason, error_code, error_message) values ('full', 'manual', 'https://api.example', '${state}', now(), now(), now(), ${more})`
const charge = (id: number, column: string, value: string) =>
  `insert into donation (id, project_id, amount, currency, source, status, settled_at) overriding system value values (${id}, 1, 5, 'USD', 'local', 'settled', now());
   insert into charge_state (donation_id, progress, read_at, ${column}) values (${id}, 'settled', now(), ${value})`
const clock = (owner: string, seconds: number) =>
  `insert into wrong_clock (owner, skew_seconds, seen_at) values ('${owner}', ${seconds}, now())`
const webhook = `insert into webhook_event (gateway, event_id, kind, charge_id, occurred_at, received_at, state, next_at) values ('stripe', 'e1', 'charge', 'c1', now(), now(), 'failed', now())`
const donor = (id: number, columns: string, values: string) =>
  `insert into donation (id, project_id, amount, currency, source, status, settled_at) overriding system value values (${id}, 1, 5, 'USD', 'local', 'settled', now());
   insert into donor (donation_id, payload_salt, payload_hash, ${columns}) values (${id}, '\\x00', '\\x00', ${values})`
const subscription = `insert into subscription (project_id, token_hash, language, key_id, wrapped_key, sealed, email_hash, requested_at) values (1, decode(repeat('00', 32), 'hex'), 'en', 'old', '\\x00', '\\x00', '\\x00', now())`
const books = `insert into reconciliation_difference (gateway, day, currency, kind, entry, difference) values ('sandbox', current_date - 1, 'USD', 'missing', 'charge', 2)`
const publisher = (ref: string, currency: string) =>
  `insert into publisher (ref, type, currency, language, recorded_at) values ('${ref}', '21', '${currency}', 'en', now())`
const leftOut = (identifier: string) =>
  fact('organisation-left-out', [
    { identifier, code: 'code-unknown', path: '/iati-organisation/total-budget', detail: 'x' },
  ])

type Situation = readonly [name: string, cause: ConditionName, sql: string, message: RegExp]

const disk = await smallDisk(3)
const dataDir = await temporaryFolder()
const published = await temporaryFolder()
const release = { id: '20261120T020000Z-1', lastModified: '2026-11-20T02:00:00Z' }
const files = [{ path: '/iati/activities.xml', mediaType: 'application/xml', text: '<iati-activities/>' }]
const manifest = await layRelease(path.join(published, 'feeds'), { ...release, files })
const held = { count: 2, sample: [{ identifier: 'US-EIN-1-7' }] }
const manifestFile = path.join(published, 'feeds/releases', release.id, 'manifest.json')
await writeFile(manifestFile, JSON.stringify({ ...manifest, held }))
if (disk !== undefined) await writeFile(path.join(disk, 'file'), Buffer.alloc(2.9 * 2 ** 20))
const redis = { REDIS_URL: 'redis://127.0.0.1:1' }
const real = { REPORTING_ORG_REF: 'US-EIN-1', FACTS_CONFIRMED: 'yes' }
const tls = { TLS_CERT_FILE: '/nowhere/cert.pem', TLS_KEY_FILE: '/nowhere/key.pem' }
const upstream = { UPSTREAM_URL: 'https://api.example', UPSTREAM_API_KEY: 'key' }

// What can be so at the same time stands together, and is looked at once.
const worlds: readonly (readonly [string, Readonly<Record<string, string>>, readonly Situation[]])[] = [
  [
    'a store after a bad night',
    { ...real, BACKUP_DIR: dataDir },
    [
      ['nothing was published', 'nothing-published', '', /nothing has been published yet/],
      [
        'a run failed',
        'run-failed',
        run('failed', 'error_code, error_message', `'disk-full', 'no room'`),
        /run \d+ failed: no room/,
      ],
      [
        'a run waits for a worker',
        'no-worker',
        `insert into run (trigger, state, queued_at) values ('manual', 'queued', now())`,
        /run \d+ waits since \S+, and no worker is running/,
      ],
      [
        'the publication is paused',
        'schedule-paused',
        schedule('publish', 'paused_at', `now(), now()`),
        /schedule publish is paused since/,
      ],
      [
        'syncs are paused',
        'schedule-paused',
        schedule('sync', 'paused_at', `now(), now()`),
        /schedule sync is paused since/,
      ],
      [
        'a clock is fast',
        'clock-wrong',
        clock('vm:7', 300),
        /clock of worker vm:7 differs from the database's by 300 s/,
      ],
      [
        'a clock is slow',
        'clock-wrong',
        clock('vm:8', -600),
        /clock of worker vm:8 differs from the database's by -600 s/,
      ],
      [
        'the bucket takes nothing',
        'bucket-behind',
        fact('bucket', { target: 'b', failure: { message: 'access denied', since: '2026-01-01T00:00:00Z' } }),
        /the bucket has no release, since .*: access denied/,
      ],
      [
        'elements are left out',
        'organisations-held',
        leftOut('GB-COH-1'),
        /elements of the organisation file are left out/,
      ],
      [
        'the database was restored',
        'database-restored',
        fact('restored-behind', { release: release.id, at: '2026-11-21' }),
        /restored from before release/,
      ],
      [
        'a source could not be read',
        'sources',
        source('crm', 'outcome, message', `'failed', 'no such file'`),
        /source crm could not be read/,
      ],
      [
        'a file is held',
        'sources',
        source('sales', 'held', heldFile({})),
        /source sales is held since 2026-11-20: a.csv would change 9/,
      ],
      [
        'a file may have been cut',
        'sources',
        source('cut', 'held', heldFile({ ending: ['open'] })),
        /a.csv may have been cut, since its last row has no end of line/,
      ],
      [
        'a file changes money',
        'sources',
        source('money', 'held', heldFile({ money: [{ currency: 'USD', kind: 'gift', before: '9', after: '4' }] })),
        /USD gift of its months: 9 now, 4 afterwards/,
      ],
      ['a webhook could not be handled', 'payments', webhook, /1 webhooks could not be handled/],
      ['a charge is disputed', 'payments', charge(71, 'dispute', `'open'`), /donation 71 is disputed/],
      [
        'a charge differs',
        'payments',
        charge(72, 'difference', `'the processor has 7'`),
        /donation 72 differs: the processor has 7/,
      ],
      [
        'donors are in clear',
        'donors',
        donor(73, 'email, details', `'ana@example.org', '{}'`),
        /donors of 1 donations are not encrypted/,
      ],
      [
        'a key of donors is missing',
        'donors',
        donor(74, 'key_id, wrapped_key, sealed, email_hash', `'old', '\\x00', '\\x00', '\\x00'`),
        /donors of 1 donations cannot be read: the key "old"/,
      ],
      [
        'a key of readers is missing',
        'donors',
        subscription,
        /1 subscriptions to reports cannot be mailed: the key "old"/,
      ],
      [
        'a backup failed',
        'backup',
        fact('failed-backup', { at: '2026-11-20', problem: 'no room' }),
        /no backup could be written at 2026-11-20: no room/,
      ],
      ['the books differ', 'books', books, /the books differ in 1 charges or refunds/],
      [
        'another process has another folder',
        'folder-refused',
        fact('refused-folder', { message: 'publishing has stopped on vm2', at: new Date().toISOString() }),
        /publishing has stopped on vm2/,
      ],
    ],
  ],
  [
    'a store whose configuration is another one',
    { REPORTING_ORG_REF: 'US-EIN-2', DEFAULT_CURRENCY: 'EUR', ...upstream },
    [
      [
        'the identifier differs',
        'publisher',
        publisher('US-EIN-1', 'USD'),
        /REPORTING_ORG_REF is US-EIN-2, and this store has US-EIN-1/,
      ],
      ['the currency differs', 'publisher', '', /DEFAULT_CURRENCY is EUR/],
      [
        'invented projects are there',
        'demo-data',
        `update project set source = 'demo'`,
        /the store has 1 demo projects/,
      ],
      [
        'the folder is gone',
        'folder',
        fact('release-folder', { id: 'x', host: 'vm1', path: '/srv/feeds', since: '2026-11-20' }),
        /the store publishes into the folder vm1:\/srv\/feeds.*is empty/,
      ],
      [
        'a sync is held',
        'sync',
        sync('held', `'half of it would end', null, null`),
        /sync \d+ \(full\) held: .*half of it would end/,
      ],
      [
        'the publication is late',
        'publication-overdue',
        schedule('publish', 'paused_at', `now() - interval '9 days', null`),
        /the publication of \S+ is overdue/,
      ],
      [
        'a release without a name is held',
        'release-held',
        run('held', 'outcome', `'{"reason": "no activity is left"}'`),
        /run \d+ is held: no activity is left/,
      ],
    ],
  ],
  [
    'a store with a release',
    { ...real, ...upstream, GIVING_DATA_DIR: published, BACKUP_DIR: dataDir },
    [
      [
        'an earlier release is live',
        'rolled-back',
        `insert into release_event (release_id, event, other_id, at) values ('${release.id}', 'rolled-back', '20261121T020000Z-2', now())`,
        /release 20261121T020000Z-2 was rolled back to/,
      ],
      [
        'a sync failed',
        'sync',
        sync('failed', `null, 'upstream-refused', 'the key is wrong'`),
        /sync \d+ \(full\) failed: .*the key is wrong/,
      ],
      [
        'a release is held',
        'release-held',
        `${run('held', 'release_id, outcome', `'r9', '{"reason": "1 would vanish"}'`)}; insert into release (id, run_id, generated_at, state, manifest) select 'r9', max(id), now(), 'held', '{}' from run`,
        /release r9 is held: 1 would vanish/,
      ],
      ['projects are held', 'activities-held', '', /2 activities are held .*: US-EIN-1-7/],
      [
        'a backup cannot be restored',
        'backup',
        fact('tried-backup', { at: '2026-11-20', file: 'a', problem: 'it is cut' }),
        /a cannot be restored, as was tried at 2026-11-20: it is cut/,
      ],
      [
        'the last backup is old',
        'backup',
        fact('last-backup', { at: '2026-01-01T00:00:00Z', file: 'a', bytes: 1 }),
        /the last backup is of 2026-01-01/,
      ],
    ],
  ],
  [
    'nobody has confirmed',
    { REPORTING_ORG_REF: 'US-EIN-1', FACTS_CONFIRMED: '' },
    [['the facts wait', 'facts', '', /nothing is published as US-EIN-1 before a person has confirmed/]],
  ],
  [
    'a queue that is away',
    { ...real, ...redis },
    [
      [
        'Redis is down',
        'queue',
        `insert into run (trigger, state, queued_at) values ('manual', 'queued', now())`,
        /cannot be reached/,
      ],
    ],
  ],
  [
    'a certificate that is not there',
    { ...real, ...tls },
    [['the certificate cannot be read', 'certificate', '', /TLS_CERT_FILE: /]],
  ],
  [
    'a full disk',
    { ...real, GIVING_DATA_DIR: disk ?? '' },
    [['the disk is nearly full', 'disk-full', '', /only 0 MB \(\d%\) of its disk are free/]],
  ],
]

/** What each of the four says, each as its reader gets it. */
async function everyTelling(environment: Record<string, string>): Promise<Readonly<Record<string, string>>> {
  const told: Record<string, string> = {}
  for (const command of ['status', 'doctor']) {
    const { stdout } = await runCommandLine([command, '--json'], environment)
    const { needs, diagnoses = [] } = JSON.parse(stdout) as {
      needs?: string[]
      diagnoses?: { state: string; message: string }[]
    }
    told[command] = (needs ?? diagnoses.flatMap(({ state, message }) => (state === 'good' ? [] : [message]))).join('\n')
  }
  const signal = new AbortController().signal
  await using runtime = await openRuntime(environment, [...workFields, 'tls'], { signal, migrate: false })
  const payments = await openPayments(runtime, { makesDonorKey: false })
  const ofApi = await needsOfApi(runtime)
  told.alarms = [...(await needsToTell(runtime, payments)), ...ofApi].map(({ message }) => message).join('\n')
  // A console with a certificate that cannot be read does not start.
  if (environment.TLS_CERT_FILE !== undefined) return told
  const { ask, close } = await openConsole(environment)
  const { text } = await ask('/').finally(close)
  told.console = text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&apos;', "'")
  return told
}

describe('status, doctor, alarms and the console tell of the same situations', () => {
  it.each(worlds)('%s', async (name, given, situations) => {
    if (name === 'a full disk' && disk === undefined) return console.log('left out: a full disk (needs root)')
    const { store, url } = await testDatabase()
    await insertProjects(store.db, [{ id: 1 }])
    const environment = { DATABASE_URL: url, GIVING_DATA_DIR: dataDir, LOG_LEVEL: 'fatal', ...given }
    const failures: string[] = []
    for (const [, , sql] of situations) if (sql !== '') await store.db.query(sql)
    const told = await everyTelling(environment)
    for (const [situation, cause, , message] of situations) {
      for (const [who, text] of Object.entries(told)) if (!message.test(text)) failures.push(`${who}: ${situation}`)
      if (told.console?.includes(conditions[cause].title) === false)
        failures.push(`console, without its name: ${situation}`)
    }
    expect(failures).toEqual([])
  })

  it('of forty situations, and of every cause but those that need two servers or a registry', () => {
    const situations = worlds.flatMap(([, , some]) => some)
    expect(situations.length).toBeGreaterThanOrEqual(40)
    const shown = new Set<string>(situations.map(([, cause]) => cause))
    const others = ['migrations', 'database-behind', 'registry']
    expect(Object.keys(conditions).filter((cause) => !shown.has(cause))).toEqual(others)
  })

  it('and of none of them where all is well', async () => {
    const { store, url } = await testDatabase()
    await insertProjects(store.db, [{ id: 1 }])
    const quiet = await temporaryFolder()
    await layRelease(path.join(quiet, 'feeds'), { ...release, files })
    const told = await everyTelling({ DATABASE_URL: url, GIVING_DATA_DIR: quiet, LOG_LEVEL: 'fatal', ...real })
    const wrong = worlds.flatMap(([, , situations]) =>
      situations.filter(([, , , message]) => message.test(`${told.status}\n${told.alarms}`)),
    )
    expect(wrong.map(([situation]) => situation)).toEqual([])
  })
})
