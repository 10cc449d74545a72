import { access, constants, mkdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { openQueue, queueSettings } from '../../../jobs/queue.js'
import { queueNames, work } from '../../../jobs/work.js'
import { syncFields, syncSettings } from '../../catalogue/sync/run.js'
import { ofExtensions } from '../../extensions.js'
import { type ConditionName, conditions } from '../../kernel/conditions.js'
import { isDemoPublisher } from '../../kernel/demo-publisher.js'
import { ServiceError, toServiceError } from '../../kernel/errors.js'
import { messageOf } from '../../kernel/system-errors.js'
import { withTimeout } from '../../money/gateways/gateway.js'
import { type Config, type ConfigField, readConfig } from '../../platform/config/config.js'
import { unreadVariables } from '../../platform/config/environment.js'
import { variables } from '../../platform/config/variables.js'
import { pendingMigrations } from '../../platform/database/migrate.js'
import { backupState } from '../../platform/database/scheduled-backup.js'
import { readServerFacts, type ServerFacts } from '../../platform/database/server-facts.js'
import { SmtpSender } from '../../platform/mail/smtp.js'
import { askStatus, HttpClient, reasonOf } from '../../platform/outgoing/http-client.js'
import { isReleaseId, releaseFolder } from '../../release/folder/release-folder.js'
import { toStorageError } from '../../release/folder/storage-errors.js'
import { findMissingOperations } from '../../release/folder/try-file-system.js'
import { describePlace, findFolderOfStore } from '../../release/operate/folder-of-store.js'
import { restoredProblem } from '../../release/operate/restored-database.js'
import { isReleaseThere } from '../../release/read/release-reader.js'
import { publicationSchedule } from '../../release/run.js'
import { isWrong, measureSkew } from '../../work/clock-check.js'
import { nextDue } from '../../work/schedule.js'
import type { CommandLine } from '../command-line.js'
import type { Inspection } from '../extension.js'
import { type Finding, fix, good, note } from '../finding.js'
import { type Condition, conditionOfCertificate, conditionOfDisk, conditionOfWorkers } from '../wiring/conditions.js'
import { anyFolderBecause } from '../wiring/folder.js'
import { listeningUrl } from '../wiring/listening.js'
import { officialDirectory, schemaFields } from '../wiring/official-schema.js'
import { openPayments, paymentFields } from '../wiring/payments.js'
import { publisherCauses, publisherFields, tellingRefusals } from '../wiring/publisher.js'
import { measureTwice, openReplicas } from '../wiring/replicas.js'
import { openRuntime, type Runtime } from '../wiring/runtime.js'
import { lookAtService, statusFields } from '../wiring/service-status.js'

export type Diagnosis = Finding & { readonly about: string }

const toFinding = ({ cause, message, problem }: Condition) =>
  problem ? fix(message, conditions[cause].next) : good(message)

const databaseFields: readonly ConfigField[] = [
  ...(['databasePoolSize', 'workerProcesses', 'queue', 'upstreamUrl', 'readMaxLagSeconds'] as const),
  ...publisherFields,
]
const anyVersionFrom = 150_000
const answerMs = 5_000
// One while an API starts and four of its console, and where the queue is in PostgreSQL, those of the page of queues.
const ofConsole = 5
const ofItsQueues = 6
const dayMs = 86_400_000

/** An inspection of the store, which is not migrated for it. Where it `needsSchema`, pending migrations keep it from looking. */
function ofStore(
  about: string,
  fields: readonly ConfigField[],
  needsSchema: boolean,
  look: (runtime: Runtime) => Promise<readonly Finding[]>,
): Inspection {
  const inspect: Inspection['inspect'] = async ({ environment, signal }) => {
    await using runtime = await openRuntime(environment, fields, { signal, migrate: false })
    const isOld = needsSchema && (await pendingMigrations(runtime.store.db)).length > 0
    return isOld ? [note('not examined while migrations are pending')] : await look(runtime)
  }
  return { about, inspect, ofDatabase: true }
}

/** Everything that `giving doctor` examines, in the order of its report; no inspection needs another to succeed. */
export const inspections: readonly Inspection[] = [
  { about: 'configuration', inspect: inspectConfiguration },
  { about: 'secrets', inspect: inspectSecrets },
  { about: 'data directory', inspect: inspectDataDirectory },
  ofStore('database', databaseFields, false, inspectDatabase),
  ofStore('queue', ['queue'], false, inspectQueue),
  ofStore('service', statusFields, true, inspectService),
  { about: 'schedule', inspect: inspectSchedule },
  ofStore('backup', ['backup'], true, inspectBackup),
  { about: 'standard', inspect: inspectStandard },
  { about: 'certificate', inspect: inspectCertificate },
  { about: 'public address', inspect: inspectPublicAddress },
  { about: 'upstream', inspect: inspectUpstream },
  ofStore('payments', paymentFields, true, inspectPayments),
  { about: 'mail', inspect: inspectMail },
  ...ofExtensions('inspection'),
]

async function inspectConfiguration({ environment }: CommandLine): Promise<readonly Finding[]> {
  try {
    const config = readConfig(environment)
    const { ref } = config.reportingOrg
    const trial = `REPORTING_ORG_REF is ${ref ?? 'not set'}: what is published is only for trials`
    const notes = [...unreadVariables(environment), ...(isDemoPublisher(ref) ? [trial] : [])]
    if (notes.length === 0) return [good('every variable has a usable value')]
    return notes.map((message) => note(message, 'docs/reference/configuration.md'))
  } catch (error) {
    const { problems, message } = toServiceError(error)
    if (!problems) return [fix(message, 'docs/reference/configuration.md')]
    return problems.map(({ field, expected, got }) =>
      fix(`${field}: expected ${expected}, got ${JSON.stringify(got)}`, 'docs/reference/configuration.md'),
    )
  }
}

async function inspectBackup({ config, store, clock }: Runtime): Promise<readonly Finding[]> {
  const { last, needs, tried } = await backupState(store.db, clock())
  if (needs.length > 0) {
    return needs.map((need) => (config.backup ? fix : note)(need, conditions.backup.next))
  }
  if (last === undefined) return [note('giving backup has never written this store', 'docs/how-to/backup.md')]
  return [good(`the last one is of ${last.at}: ${last.file}, ${last.bytes} bytes; ${tried}`)]
}

/** Files with secrets must be closed to everybody but their owner and group. */
async function inspectSecrets({ environment }: CommandLine): Promise<readonly Finding[]> {
  const secrets = Object.entries(variables).flatMap(([name, { secret }]) => (secret ? [`${name}_FILE`] : []))
  const findings: Finding[] = []
  for (const name of [...secrets, 'TLS_KEY_FILE']) {
    const file = environment[name]
    if (!file) continue
    const { mode } = await stat(file).catch((cause: unknown) => {
      throw new ServiceError('configuration-invalid', `${name}: ${messageOf(cause)}`)
    })
    const isOpen = (mode & 0o007) !== 0
    findings.push(
      isOpen
        ? fix(`every user of this machine can read ${name}`, `chmod o-rwx ${file}`)
        : good(`${name} is closed to other users`),
    )
  }
  return findings.length > 0 ? findings : [good('none is in a file')]
}

async function inspectDataDirectory({ environment }: CommandLine): Promise<readonly Finding[]> {
  const { dataDir } = readConfig(environment, ['dataDir'])
  try {
    await mkdir(dataDir, { recursive: true })
    await access(dataDir, constants.W_OK)
  } catch (error) {
    const reason = messageOf(error)
    return [fix(`${dataDir} cannot be written: ${reason}`, `make it writable, or set GIVING_DATA_DIR`)]
  }
  const feedsDir = path.join(dataDir, 'feeds')
  const isThere = await stat(feedsDir).then(
    () => true,
    () => false,
  )
  const missing = await inspectFileSystem(isThere ? feedsDir : dataDir)
  return [...missing, toFinding(await conditionOfDisk(dataDir))]
}

async function inspectFileSystem(directory: string): Promise<readonly Finding[]> {
  const page = 'docs/reference/files.md'
  return (await findMissingOperations(directory)).map(({ operation, error }) => {
    const { message } = toServiceError(toStorageError(error, directory))
    if (operation !== 'link') return fix(`${operation}: ${message}: nothing can be published there`, page)
    return note(`${operation}: ${message}: files that stay the same are copied into each release`, page)
  })
}

async function inspectDatabase(runtime: Runtime): Promise<readonly Finding[]> {
  const { store, clock, config } = runtime
  const facts = await readServerFacts(store.db)
  const findings: Finding[] = []
  const version = `PostgreSQL ${Math.floor(facts.version / 10_000)}.${facts.version % 10_000}`
  const server = `${version}, ${config.database.kind === 'embedded' ? 'our own' : 'given by DATABASE_URL'}`
  if (facts.version < anyVersionFrom) findings.push(fix(`${server}: 15 or newer is needed`, 'upgrade PostgreSQL'))
  else if (facts.encoding !== 'UTF8') findings.push(fix(`its encoding is ${facts.encoding}`, 'create it with UTF8'))
  else findings.push(good(server))
  if (facts.readOnly)
    findings.push(fix('it is read-only: nothing can be published or donated', 'find the primary server'))
  findings.push(...(await inspectLineage(runtime)), ...(await inspectReplicas(runtime)))
  if (facts.superuser && config.database.kind === 'given') {
    findings.push(note('DATABASE_URL is a superuser', 'give the service a role of its own (docs/how-to/install.md)'))
  }
  const pending = await pendingMigrations(store.db)
  if (pending.length > 0) findings.push(fix(`migrations are pending: ${pending.join(', ')}`, 'giving migrate'))
  const refusals = pending.length > 0 ? [] : await tellingRefusals(runtime)
  for (const { code, message } of refusals) findings.push(fix(message, conditions[publisherCauses[code]].next))
  const hasOneFolder = pending.length === 0 && anyFolderBecause(config) === undefined
  const folder = hasOneFolder ? await findFolderOfStore(store.db) : undefined
  if (folder && refusals.every(({ code }) => code !== 'folder-differs'))
    findings.push(good(`its releases are in the folder ${describePlace(folder)}, which this process has`))
  if (pending.length > 0 && !facts.mayCreate)
    findings.push(fix('its role may not make tables', 'grant create on schema'))
  const { most, open } = facts.connections
  const { wanted, whose } = connectionBudget(config, facts.processes)
  const budget = `${open} of ${most} connections are open; ${whose} up to ${wanted}`
  findings.push(
    most < wanted
      ? fix(budget, 'a smaller DATABASE_POOL_SIZE or WORKER_PROCESSES, or a larger max_connections')
      : good(budget),
  )
  const skew = await measureSkew(store, clock)
  findings.push(
    isWrong(skew)
      ? fix(`the clock of this machine differs by ${skew} s: workers take no runs`, 'set the clock (NTP)')
      : good('its clock agrees with this machine'),
  )
  return findings
}

/** The connections of the processes that run, or of one API and one worker where none does (docs/reference/limits.md). */
function connectionBudget(config: Config, { api, worker, start }: ServerFacts['processes']) {
  const pool = config.databasePoolSize
  const ofApi =
    pool + Math.max(2, Math.floor(pool / 3)) + ofConsole + (config.queue.engine === 'redis' ? 0 : ofItsQueues)
  const ofWorker = pool + queueConnections(config)
  if (api + worker + start > 0) {
    const running = Object.entries({ api, worker, start }).flatMap(([name, count]) =>
      count > 0 ? [`${count} of giving ${name}`] : [],
    )
    const wanted = (api + start) * ofApi + (worker + start) * ofWorker
    return { wanted, whose: `the processes that run (${running.join(', ')}) need` }
  }
  const processes = config.workerProcesses
  // The supervisor of several processes has three, for its metrics.
  const ofWorkers = processes * ofWorker + (processes > 1 ? 3 : 0)
  return {
    wanted: ofApi + ofWorkers,
    whose: `an API and ${processes > 1 ? `a worker of ${processes} processes` : 'a worker'} need`,
  }
}

/** Whether this is the newest primary that was seen, and has what was published. */
async function inspectLineage({ store, fence, clock }: Runtime): Promise<readonly Finding[]> {
  const pending = await pendingMigrations(store.db)
  const problems = [fence?.problem(clock()), pending.length > 0 ? undefined : await restoredProblem(store.db)]
  return problems.flatMap((problem) =>
    problem === undefined ? [] : [fix(problem, conditions['database-restored'].next)],
  )
}

/** The standbys of DATABASE_READ_URL. */
async function inspectReplicas(runtime: Runtime): Promise<readonly Finding[]> {
  const replicas = openReplicas(runtime, runtime.store, () => [])
  if (!replicas) return []
  try {
    return (await measureTwice(replicas)).map(({ name, lagSeconds, leftOut }) =>
      leftOut === undefined
        ? good(`the API reads from the standby ${name}, which is ${lagSeconds?.toFixed(1)} s behind`)
        : fix(`DATABASE_READ_URL: the standby ${name} is not read from: ${leftOut}`, 'docs/how-to/database.md'),
    )
  } finally {
    await replicas.close()
  }
}

/** The connections to PostgreSQL that the queue of a worker process opens: two for each queue, and two for each that it takes jobs of. */
function queueConnections({ queue, upstreamUrl }: Config): number {
  if (queue.engine === 'redis') return 0
  const queues = queueNames(work)
  const consumed = queues.filter((name) => name !== 'sync' || upstreamUrl !== undefined)
  return 2 * (queues.length + consumed.length)
}

async function inspectQueue({ config, databaseUrl, log, store: { db } }: Runtime): Promise<readonly Finding[]> {
  await using queue = await openQueue(queueSettings({ config, databaseUrl }), log)
  const workers = await queue.liveWorkers('publish')
  const what = `${config.queue.engine === 'redis' ? 'Redis' : 'PostgreSQL'} answers`
  // A store without its tables has no run that waits.
  const isNew = (await pendingMigrations(db)).length > 0
  const { message, problem } = isNew
    ? { message: workers > 0 ? `workers: ${workers}` : 'no worker is running', problem: undefined }
    : await conditionOfWorkers(db, workers)
  if (workers > 0) return [good(`${what}; ${message}`)]
  return [(problem ? fix : note)(`${what}; ${message}`, conditions['no-worker'].next)]
}

/** What `giving status` says needs a person, but for what another inspection tells. */
async function inspectService(runtime: Runtime): Promise<readonly Finding[]> {
  // The queue has an inspection of its own.
  const queue = { engine: runtime.config.queue.engine, reachable: false, error: '' } as const
  const { causes } = await lookAtService(runtime, queue, () => openPayments(runtime, { makesDonorKey: false }))
  const needs = causes.filter(({ cause }) => !toldElsewhere.includes(cause))
  if (needs.length === 0) return [good('nothing needs a person')]
  return needs.map(({ cause, message }) =>
    (cause === 'nothing-published' ? note : fix)(message, conditions[cause].next),
  )
}

const toldElsewhere: readonly ConditionName[] = [
  ...(['queue', 'disk-full', 'certificate', 'no-worker', 'backup', 'sources', 'registry'] as const),
  ...(['database-behind', 'database-restored', 'publisher', 'demo-data', 'folder'] as const),
]

async function inspectSchedule({ environment }: CommandLine): Promise<readonly Finding[]> {
  const config = readConfig(environment, ['publish'])
  const { schedule, timezone } = config.publish
  const next = nextDue(publicationSchedule(config), new Date())
  return [good(`${schedule} in ${timezone}: next publication ${next.toISOString()}`)]
}

async function inspectStandard({ environment }: CommandLine): Promise<readonly Finding[]> {
  const config = readConfig(environment, schemaFields)
  const directory = await officialDirectory(config)
  if (directory === undefined) {
    return [note('the official schema is not here, so the checks built in are the only ones', 'giving standard pull')]
  }
  const { readPulledStandard } = await import('../../iati/standard/pulled.js')
  const pulled = await readPulledStandard(directory)
  const when = pulled ? `, pulled ${pulled.pulledAt.slice(0, 10)}` : ''
  const isOld = pulled && Date.now() - Date.parse(pulled.pulledAt) > 365 * dayMs
  const message = `everything published is also checked by the schema in ${directory}${when}`
  return [isOld ? note(message, 'giving standard pull') : good(message)]
}

async function inspectCertificate({ environment }: CommandLine): Promise<readonly Finding[]> {
  const { tls } = readConfig(environment, ['tls'])
  if (tls === undefined) return [good('none: TLS is left to a proxy')]
  return [toFinding(await conditionOfCertificate(tls.certFile, new Date()))]
}

async function inspectPublicAddress({ environment, signal }: CommandLine): Promise<readonly Finding[]> {
  const config = readConfig(environment, ['baseUrl', 'host', 'port', 'tls', 'dataDir', 'bucket'])
  const url = config.baseUrl ?? listeningUrl(config, config.port)
  const status = await askStatus(`${url}/healthz`, { totalMs: answerMs, signal }).catch(reasonOf)
  if (status === 200) {
    const served = config.bucket?.isFolder ? undefined : await servedRelease(url, signal)
    const { releases } = releaseFolder(path.join(config.dataDir, 'feeds'))
    if (served === undefined || (await isReleaseThere(path.join(releases, served)))) return [good(`${url} answers`)]
    return [
      fix(
        `${url} serves release ${served}, which is not in ${releases}: another store answers there`,
        'set BASE_URL, PORT or GIVING_DATA_DIR',
      ),
    ]
  }
  const message = `${url}/healthz: ${status}`
  if (config.baseUrl === undefined) return [note(message, 'giving start, or giving api')]
  return [fix(message, 'start the API, or correct BASE_URL and the proxy')]
}

async function inspectUpstream({ environment, signal }: CommandLine): Promise<readonly Finding[]> {
  if (readConfig(environment, ['upstreamUrl']).upstreamUrl === undefined) return [good('none is mirrored')]
  const config = readConfig(environment, syncFields)
  const { upstream, client: settings } = syncSettings(config) ?? {}
  if (!upstream || !settings) throw new Error('the upstream has an address and no settings')
  const [{ UpstreamClient }, { foreseeFirstSync }] = await Promise.all([
    import('../../catalogue/sync/upstream-client.js'),
    import('../../catalogue/sync/foresee.js'),
  ])
  await using client = new UpstreamClient({ ...settings, connectMs: answerMs, idleMs: answerMs, totalMs: answerMs })
  try {
    const foreseen = await foreseeFirstSync(client, signal)
    const rate = upstream.requestsPerSecond
    const cost =
      foreseen && `${foreseen.requests} requests, ${spanOf(foreseen.requests / rate)} at UPSTREAM_RATE=${rate}`
    const size = foreseen ? `: ${foreseen.projects} projects; a first sync takes at most ${cost}` : ''
    return [good(`${upstream.url} takes the key${size}`)]
  } catch (error) {
    const { code, message } = toServiceError(error)
    const isKey = code === 'upstream-refused'
    return [fix(message, isKey ? 'correct UPSTREAM_API_KEY' : 'correct UPSTREAM_URL, or wait; then giving sync status')]
  }
}

/** A span of time as a person says it. */
function spanOf(seconds: number): string {
  return seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`
}

async function inspectPayments(runtime: Runtime): Promise<readonly Finding[]> {
  const payments = await openPayments(runtime, { makesDonorKey: false })
  const { gateway, timeoutMs } = payments
  const closedBecause = await payments.closedBecause?.()
  if (closedBecause !== undefined) return [note(`no donations are taken: ${closedBecause}`, 'docs/how-to/processor.md')]
  try {
    await withTimeout(timeoutMs, (signal) => gateway.describeAccount(signal))
  } catch (error) {
    return [fix(`the payment processor: ${toServiceError(error).message}`, 'giving payments check')]
  }
  return [good(`donations are taken through ${gateway.name}`)]
}

async function inspectMail({ environment, signal }: CommandLine): Promise<readonly Finding[]> {
  const config = readConfig(environment, ['mail'])
  if (!config.mail || config.secrets.smtpUrl === undefined) return [note('SMTP_URL is not set: nothing is mailed')]
  const { host } = new URL(config.secrets.smtpUrl)
  try {
    await new SmtpSender(config.secrets.smtpUrl, config.mail.from).check(signal)
  } catch (error) {
    return [fix(`${host}: ${messageOf(error)}`, 'correct SMTP_URL, or start the server')]
  }
  return [good(`${host} takes mail`)]
}

/** The live release at an address; undefined where none is served. */
async function servedRelease(url: string, signal: AbortSignal): Promise<string | undefined> {
  await using client = new HttpClient({ connectMs: answerMs, idleMs: answerMs })
  try {
    const { headers, body } = await client.send(`${url}/feeds/manifest.json`, {
      method: 'HEAD',
      totalMs: answerMs,
      signal,
    })
    await body.dump()
    const release = headers['x-release']
    return release !== undefined && isReleaseId(release) ? release : undefined
  } catch {
    return undefined
  }
}
