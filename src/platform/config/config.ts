import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { inspect } from 'node:util'
import { isDemoPublisher } from '../../kernel/demo-publisher.js'
import { type FieldProblem, ServiceError } from '../../kernel/errors.js'
import { isLoopbackHost } from '../../kernel/loopback-host.js'
import { readRedisAddress } from '../../kernel/redis-address.js'
import { missingPackage } from './own-package.js'
import { type SecretName, type ValueOf, type Variable, type VariableName, variables } from './variables.js'

/** Raw environment: names to texts. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Texts of the variables that are secrets; printed as `[redacted]` wherever they are printed. */
export type Secrets = { readonly [Name in SecretName]?: string | undefined }

class Redacted {
  toJSON(): string {
    return '[redacted]'
  }

  [inspect.custom](): string {
    return 'Secrets [redacted]'
  }
}

/** Reads single variables and collects what is wrong with them. */
class VariableReader {
  readonly problems: FieldProblem[] = []
  readonly #environment: Environment
  readonly #read = new Map<VariableName, unknown>()

  constructor(environment: Environment) {
    this.#environment = environment
  }

  /** The value of a variable; while it is wrong, that of its default. */
  get<Name extends VariableName>(name: Name): ValueOf<Name> {
    if (!this.#read.has(name)) this.#read.set(name, this.#parse(name))
    return this.#read.get(name) as ValueOf<Name>
  }

  /** As `get`, of a variable that is needed: it is reported when it is not set, so that nobody sees the configuration. */
  need<Name extends VariableName>(name: Name, expected: string): NonNullable<ValueOf<Name>> {
    const value = this.get(name)
    if (!this.#raw(name)) this.problems.push({ field: name, expected, got: 'nothing' })
    return value as NonNullable<ValueOf<Name>>
  }

  /** Whether it was asked for. */
  has(name: VariableName): boolean {
    return this.#read.has(name)
  }

  isSet(name: VariableName): boolean {
    return Boolean(this.#raw(name))
  }

  /** Reports a problem, unless the variable has one. */
  refuse(problem: FieldProblem): void {
    if (!this.problems.some(({ field }) => field === problem.field)) this.problems.push(problem)
  }

  /** The file that a secret is in; undefined when it is in none. */
  fileOf(name: VariableName): string | undefined {
    return toAbsolute(this.#environment[`${name}_FILE`]?.trim() || undefined)
  }

  /** Throws `configuration-invalid` with every problem in one message. */
  refuseProblems(): void {
    const { problems } = this
    if (problems.length === 0) return
    const lines = problems.map(
      ({ field, expected, got }) => `${field}: expected ${expected}, got ${JSON.stringify(got)}`,
    )
    throw new ServiceError('configuration-invalid', `the configuration is wrong: ${lines.join('; ')}`, { problems })
  }

  #parse(name: VariableName): unknown {
    const { expected: said, fallback, parse, secret }: Variable = variables[name]
    const raw = this.#raw(name)
    if (raw) {
      const value = parse(raw)
      if (value !== undefined) return value
      const expected = typeof said === 'string' ? said : said(raw)
      this.problems.push({ field: name, expected, got: secret ? '[redacted]' : raw })
    }
    return fallback === undefined ? undefined : parse(fallback)
  }

  /** The text of a variable; that of a secret may be in the file that `NAME_FILE` names. */
  #raw(name: VariableName): string | undefined {
    const given = this.#environment[name]?.trim()
    const definition: Variable = variables[name]
    const field = `${name}_FILE`
    const file = definition.secret && this.#environment[field]?.trim()
    if (!file) return given
    if (given) {
      this.refuse({ field, expected: `nothing, since ${name} is set`, got: file })
      return given
    }
    try {
      const text = readFileSync(file, 'utf8').trim()
      if (text === '') this.refuse({ field, expected: 'a file with the secret', got: file })
      return text
    } catch {
      this.refuse({ field, expected: 'a file that can be read', got: file })
      return undefined
    }
  }
}

const factVariables = [
  'REPORTING_ORG_TYPE',
  'DEFAULT_LANGUAGE',
  'DEFAULT_CURRENCY',
  'ASSUMED_DONORS',
  'ASSUMED_PARTNER_TYPE',
  'ASSUMED_DOCUMENT_CATEGORY',
] as const

/** Every field of the configuration, without secrets, from its variables. Paths are absolute, addresses have no trailing slash. */
const fields = {
  port: (variable) => variable.get('PORT'),
  host: (variable) => variable.get('HOST'),
  /** Undefined until the port is known when it was not given. */
  baseUrl: (variable) => variable.get('BASE_URL'),
  /** Files (PEM) that HTTPS is served with; undefined: plain HTTP. */
  tls: readTls,
  /** Proxies whose `X-Forwarded-For` is trusted: all, none, a number of hops, or a list of addresses and networks. */
  trustProxy: (variable) => variable.get('TRUST_PROXY'),
  allowPlainHttp: (variable) => variable.get('ALLOW_PLAIN_HTTP'),
  rateLimitPerMinute: (variable) => variable.get('RATE_LIMIT_PER_MINUTE'),
  rateLimitPerAddress: (variable) => variable.get('RATE_LIMIT_PER_ADDRESS'),
  downloadMegabytesPerSecond: (variable) => variable.get('DOWNLOAD_MEGABYTES_PER_SECOND'),
  /** Where the proxy before the API has the published files; undefined: the API sends them itself. */
  accelLocation: (variable) => variable.get('ACCEL_LOCATION'),
  maxConnections: (variable) => variable.get('MAX_CONNECTIONS'),
  maxConnectionsPerAddress: (variable) => variable.get('MAX_CONNECTIONS_PER_ADDRESS'),
  dataDir: (variable) => path.resolve(variable.get('GIVING_DATA_DIR')),
  /** A given server, or one that this service runs inside the data directory. */
  database: (variable) => {
    variable.get('DATABASE_DIRECT_URL')
    return {
      kind: either(variable.get('DATABASE_URL'), 'given', 'embedded'),
      /** How a pooler shares its servers; undefined: the service finds out. */
      pooling: variable.get('DATABASE_POOLING'),
    }
  },
  /** How far a standby that is read from may be behind. */
  readMaxLagSeconds: (variable) => {
    if (variable.get('DATABASE_READ_URL') !== undefined) {
      variable.need('DATABASE_URL', 'the primary of the standbys of DATABASE_READ_URL')
    }
    return variable.get('READ_MAX_LAG_SECONDS')
  },
  /** At least 4: earlier versions published with 3. */
  databasePoolSize: (variable) => Math.max(4, variable.get('DATABASE_POOL_SIZE')),
  queue: readQueue,
  publish: (variable) => ({
    schedule: variable.get('PUBLISH_SCHEDULE'),
    timezone: variable.get('PUBLISH_TIMEZONE'),
    keepReleases: variable.get('PUBLISH_KEEP_RELEASES'),
    maxLossPercent: variable.get('PUBLISH_MAX_LOSS_PERCENT'),
  }),
  /** Address of the mirrored platform, up to `/api`; undefined: none. Needs no key. */
  upstreamUrl: (variable) => variable.get('UPSTREAM_URL'),
  /** Where the store is backed up into, and how many stay; undefined: nowhere. */
  backup: (variable) => {
    const directory = variable.get('BACKUP_DIR')
    const keep = variable.get('BACKUP_KEEP')
    return directory === undefined ? undefined : { directory: path.resolve(directory), keep }
  },
  /** How a process that syncs reads that platform; undefined: none. */
  upstream: readUpstream,
  allowPrivateNetworks: (variable) => variable.get('ALLOW_PRIVATE_NETWORKS'),
  standardDir: (variable) => toAbsolute(variable.get('IATI_STANDARD_DIR')),
  reportingOrg: (variable) => ({
    ref: variable.get('REPORTING_ORG_REF'),
    name: variable.get('REPORTING_ORG_NAME'),
    type: variable.get('REPORTING_ORG_TYPE'),
  }),
  /** Where the publisher answers enquiries. */
  contact: (variable) => ({ email: variable.get('PUBLISHER_EMAIL'), page: variable.get('PUBLISHER_URL') }),
  /** What is published where no record states it. */
  assumed: (variable) => ({
    donors: variable.get('ASSUMED_DONORS'),
    partnerType: variable.get('ASSUMED_PARTNER_TYPE'),
    documentCategory: variable.get('ASSUMED_DOCUMENT_CATEGORY'),
    codes: variable.get('ASSUMED_CODES'),
  }),
  factsConfirmed: (variable) => variable.get('FACTS_CONFIRMED') === 'yes',
  /** Variables of the published facts that nobody has set: their defaults are assumptions. */
  unset: (variable) => factVariables.filter((name) => !variable.isSet(name)),
  licence: (variable) => variable.get('LICENCE_ID'),
  /** Undefined: the published files are not registered. */
  registry: readRegistry,
  /** Whether releases are signed. */
  signing: (variable) => either(variable.get('SIGNING_KEY'), 'given', 'none'),
  currency: (variable) => variable.get('DEFAULT_CURRENCY'),
  language: (variable) => variable.get('DEFAULT_LANGUAGE'),
  /** What pages look and read like, where it is not the built-in. */
  brand: (variable) => ({
    logo: toAbsolute(variable.get('PORTAL_LOGO')),
    colours: variable.get('PORTAL_COLOURS'),
    wordsDir: toAbsolute(variable.get('PORTAL_WORDS_DIR')),
  }),
  portal: (variable) => variable.get('PORTAL') === 'on',
  /** Where people give to a project; undefined: the page of its record. */
  projectLinkTemplate: (variable) => variable.get('PROJECT_LINK_TEMPLATE'),
  tokenTimeoutHours: (variable) => variable.get('TOKEN_TIMEOUT_HOURS'),
  tokenIdleMinutes: (variable) => variable.get('TOKEN_IDLE_MINUTES'),
  /** Who may make an account: everybody, those with an invitation, or the operator alone. */
  registration: (variable) =>
    variable.get('REGISTRATION') ?? either(variable.get('REPORTING_ORG_REF'), 'closed', 'open'),
  // More than four of them and an API can need more connections than PostgreSQL accepts by default (100).
  workerProcesses: (variable) =>
    variable.get('WORKER_PROCESSES') ?? Math.min(4, Math.max(1, Math.floor(availableParallelism() / 2))),
  shutdownSeconds: (variable) => variable.get('SHUTDOWN_SECONDS'),
  /** Undefined: what suits the command. */
  shutdownDrainSeconds: (variable) => variable.get('SHUTDOWN_DRAIN_SECONDS'),
  payments: readPayments,
  donors: (variable) => ({
    keys: either(variable.get('DONOR_KEYS'), 'given', 'none'),
    retentionDays: variable.get('DONOR_RETENTION_DAYS'),
  }),
  /** The bucket that releases are delivered to as well; undefined: none. */
  bucket: readBucket,
  websubHub: (variable) => variable.get('WEBSUB_HUB'),
  /** How receipts and codes of accounts are mailed; undefined: they are not. */
  mail: readMail,
  /** The alert recipient; undefined: nobody. */
  alerts: readAlerts,
  /** Where the console listens; without a port at 8081 or, where that is taken, at a free one. */
  ops: readOps,
  metricsOnApi: (variable) => variable.get('METRICS_ON_API'),
  /** Port of the metrics of a worker process; undefined: they are not served. */
  metricsPort: (variable) => variable.get('METRICS_PORT'),
  /** Undefined: `info`, and `warn` in a terminal. */
  logLevel: (variable) => variable.get('LOG_LEVEL'),
  logFormat: (variable) => variable.get('LOG_FORMAT'),
} satisfies Readonly<Record<string, (variable: VariableReader) => unknown>>

type Frozen<T> = T extends string | number | boolean ? T : Readonly<T>

export type ConfigField = keyof typeof fields

export type Config = { readonly [Field in ConfigField]: Frozen<ReturnType<(typeof fields)[Field]>> } & {
  readonly secrets: Secrets
}

export type UpstreamConfig = NonNullable<Config['upstream']>

export type RegistryConfig = NonNullable<Config['registry']>

/**
 * The configuration, whole. `needed` fields, all when none are named, are read at once: what is wrong with their variables is in one
 * `configuration-invalid`, each with what was expected and what came (secrets excepted). Any other field is read, and refused, when
 * it is first used, so that no command asks for variables that it does not use.
 */
export function readConfig(
  environment: Environment,
  needed: readonly ConfigField[] = Object.keys(fields) as ConfigField[],
): Config {
  const first = new VariableReader(environment)
  const config: object = {}
  // In the order of the table, so that problems always come in the same order.
  for (const [name, read] of Object.entries(fields)) {
    const now = needed.some((one) => one === name) ? { value: read(first) } : undefined
    define(config, name, now, () => reading(environment, read))
  }
  first.refuseProblems()
  const secrets = new Redacted()
  for (const [name, { secret }] of Object.entries(variables)) {
    if (secret === undefined) continue
    const read = (variable: VariableReader) => variable.get(name as VariableName)
    define(secrets, secret, first.has(name as VariableName) ? { value: read(first) } : undefined, () =>
      reading(environment, read),
    )
  }
  Object.defineProperty(config, 'secrets', { value: Object.freeze(secrets) })
  return Object.freeze(config) as Config
}

/** A member that is there, or is read when it is first used. */
function define(of: object, name: string, now: { readonly value: unknown } | undefined, read: () => unknown): void {
  let known = now
  const get = () => {
    known ??= { value: read() }
    return known.value
  }
  Object.defineProperty(of, name, { get, enumerable: true })
}

function reading(environment: Environment, read: (variable: VariableReader) => unknown): unknown {
  const variable = new VariableReader(environment)
  const value = read(variable)
  variable.refuseProblems()
  return value
}

function readTls(variable: VariableReader) {
  if (!variable.get('TLS_CERT_FILE') && !variable.get('TLS_KEY_FILE')) return undefined
  const expected = 'a file, since TLS_CERT_FILE and TLS_KEY_FILE need each other'
  const certFile = toAbsolute(variable.need('TLS_CERT_FILE', expected))
  return { certFile, keyFile: toAbsolute(variable.need('TLS_KEY_FILE', expected)) }
}

function readQueue(variable: VariableReader) {
  const url = variable.get('REDIS_URL')
  const caFile = variable.get('REDIS_CA_FILE')
  if (caFile !== undefined && !readRedisAddress(url ?? '')?.encrypted) {
    variable.refuse({ field: 'REDIS_CA_FILE', expected: 'nothing, unless REDIS_URL begins with rediss', got: caFile })
  }
  return {
    engine: either(url, 'redis', 'postgres'),
    caFile: toAbsolute(caFile),
    lockSeconds: variable.get('QUEUE_LOCK_SECONDS'),
  }
}

function readPayments(variable: VariableReader) {
  const gateway = variable.get('PAYMENT_GATEWAY')
  const missing = gateway === 'sandbox' ? undefined : missingPackage(gateway)
  if (missing) variable.refuse({ field: 'PAYMENT_GATEWAY', expected: missing, got: gateway })
  return {
    gateway,
    timeoutSeconds: variable.get('PAYMENT_TIMEOUT_SECONDS'),
    /** The platform's share of each donation, as a percentage. */
    feePercent: variable.get('PLATFORM_FEE_PERCENT'),
    /** The smallest and largest donation by currency. */
    limits: variable.get('DONATION_LIMITS') ?? {},
    /** The server to call in place of the processor's. */
    address: gateway === 'sandbox' ? undefined : readProcessorAddress(variable),
    /** Defined when Braintree is the gateway. */
    braintree: gateway === 'braintree' ? readBraintree(variable) : undefined,
    stripe: gateway === 'stripe' ? readStripe(variable) : undefined,
  }
}

function readProcessorAddress(variable: VariableReader) {
  const address = variable.get('PAYMENT_GATEWAY_URL')
  if (address === undefined) return undefined
  const { hostname, port } = new URL(address)
  return { host: hostname, port: port || '443', caFile: toAbsolute(variable.get('PAYMENT_GATEWAY_CA_FILE')) }
}

function readBraintree(variable: VariableReader) {
  const currency = variable.get('DEFAULT_CURRENCY')
  const accounts = variable.get('BRAINTREE_MERCHANT_ACCOUNTS') ?? {}
  const expected = 'that of your account, for PAYMENT_GATEWAY=braintree'
  const merchantId = variable.need('BRAINTREE_MERCHANT_ID', expected)
  const publicKey = variable.need('BRAINTREE_PUBLIC_KEY', expected)
  variable.need('BRAINTREE_PRIVATE_KEY', expected)
  /** The account of the platform's currency. */
  const { [currency]: merchantAccount = '', ...otherAccounts } = accounts
  const wanted = new Set([currency, ...Object.keys(variable.get('DONATION_LIMITS') ?? {})])
  const missing = [...wanted].filter((code) => accounts[code] === undefined)
  if (missing.length > 0) {
    const got = Object.keys(accounts).join(', ') || 'nothing'
    const account = `an account for ${missing.join(', ')}: the platform's currency and those of DONATION_LIMITS need one`
    variable.refuse({ field: 'BRAINTREE_MERCHANT_ACCOUNTS', expected: account, got })
  }
  return {
    ...{ environment: variable.get('BRAINTREE_ENVIRONMENT'), merchantId, publicKey, merchantAccount, otherAccounts },
    needsThreeDSecure: variable.get('BRAINTREE_3D_SECURE') === 'required',
  }
}

function readStripe(variable: VariableReader) {
  const expected = 'that of your account, for PAYMENT_GATEWAY=stripe'
  const secret: string | undefined = variable.need('STRIPE_SECRET_KEY', expected)
  const publishableKey = variable.need('STRIPE_PUBLISHABLE_KEY', expected)
  variable.get('STRIPE_WEBHOOK_SECRET')
  const mode = secret?.includes('_live_') ? 'live' : 'test'
  if (secret && publishableKey && !publishableKey.startsWith(`pk_${mode}_`)) {
    const ofMode = `a key that begins with pk_${mode}_, as STRIPE_SECRET_KEY is of that mode`
    variable.problems.push({ field: 'STRIPE_PUBLISHABLE_KEY', expected: ofMode, got: publishableKey.slice(0, 8) })
  }
  return { publishableKey }
}

/** A process that mirrors needs a key to read with and an identity to publish under. Schedules are in UTC. */
function readUpstream(variable: VariableReader) {
  const url = variable.get('UPSTREAM_URL')
  if (url === undefined) return undefined
  variable.need('UPSTREAM_API_KEY', 'the API key that UPSTREAM_URL is read with')
  variable.need('REPORTING_ORG_REF', 'the IATI identifier of the publisher, which mirrored data is published under')
  return {
    url,
    hosts: variable.get('UPSTREAM_HOSTS'),
    concurrency: variable.get('UPSTREAM_CONCURRENCY'),
    requestsPerSecond: variable.get('UPSTREAM_RATE'),
    schedule: variable.get('SYNC_SCHEDULE'),
    fullSchedule: variable.get('FULL_SYNC_SCHEDULE'),
  }
}

/** A process that registers needs an account there, and facts of the publisher that have no default. */
function readRegistry(variable: VariableReader) {
  const url = variable.get('REGISTRY_URL')
  if (url === undefined) return undefined
  const expected = 'the IATI identifier of the publisher, as the registry has it'
  const publisherRef = variable.need('REPORTING_ORG_REF', expected)
  if (isDemoPublisher(publisherRef)) {
    variable.refuse({
      field: 'REPORTING_ORG_REF',
      expected: `${expected}: a trial is registered nowhere`,
      got: publisherRef,
    })
  }
  return {
    url,
    publisherRef,
    baseUrl: variable.need('BASE_URL', 'the public address of the published files'),
    licence: variable.need('LICENCE_ID', 'the licence that the datasets are registered with'),
    account: readRegistryAccount(variable),
    /** Whether new segments are registered by themselves. */
    sync: variable.get('REGISTRY_SYNC'),
    visibility: variable.get('REGISTRY_VISIBILITY'),
    /** Undefined: the short name of the publisher. */
    prefix: variable.get('REGISTRY_DATASET_PREFIX'),
  }
}

function readRegistryAccount(variable: VariableReader) {
  const clientId = variable.get('REGISTRY_CLIENT_ID')
  if (clientId !== undefined) {
    variable.need('REGISTRY_CLIENT_SECRET', 'the secret of REGISTRY_CLIENT_ID')
    return { kind: 'client', clientId, tokenUrl: variable.get('REGISTRY_TOKEN_URL') } as const
  }
  variable.need('REGISTRY_TOKEN', 'a token, or REGISTRY_CLIENT_ID and REGISTRY_CLIENT_SECRET')
  return { kind: 'token', file: variable.fileOf('REGISTRY_TOKEN') } as const
}

function readBucket(variable: VariableReader) {
  const name = variable.get('FEEDS_S3_BUCKET')
  if (name === undefined) {
    if (variable.get('FEEDS_S3_IS_FOLDER') === 'on')
      variable.need('FEEDS_S3_BUCKET', 'the bucket that FEEDS_S3_IS_FOLDER means')
    return undefined
  }
  const missing = missingPackage('@aws-sdk/client-s3')
  if (missing) variable.refuse({ field: 'FEEDS_S3_BUCKET', expected: missing, got: name })
  /** Without both the AWS SDK finds the keys. */
  const accessKeyId = variable.get('FEEDS_S3_ACCESS_KEY_ID')
  if (accessKeyId !== undefined || variable.get('FEEDS_S3_SECRET_ACCESS_KEY') !== undefined) {
    for (const part of ['FEEDS_S3_ACCESS_KEY_ID', 'FEEDS_S3_SECRET_ACCESS_KEY'] as const) {
      variable.need(part, 'a key, since both parts of it are needed')
    }
  }
  return {
    ...{ name, region: variable.get('FEEDS_S3_REGION'), endpoint: variable.get('FEEDS_S3_ENDPOINT'), accessKeyId },
    isFolder: variable.get('FEEDS_S3_IS_FOLDER') === 'on',
  }
}

function readMail(variable: VariableReader) {
  if (variable.get('SMTP_URL') === undefined) return undefined
  const from = variable.need('MAIL_FROM', 'the sender of mail, which SMTP_URL needs')
  return { from, templatesDir: toAbsolute(variable.get('MAIL_TEMPLATES_DIR')) }
}

function readAlerts(variable: VariableReader) {
  const [webhookUrl, mailTo] = [variable.get('ALERT_WEBHOOK_URL'), variable.get('ALERT_MAIL_TO')]
  if (webhookUrl !== undefined) variable.need('ALERT_WEBHOOK_SECRET', 'the secret of ALERT_WEBHOOK_URL')
  if (mailTo !== undefined) variable.need('SMTP_URL', 'the mail server, which ALERT_MAIL_TO needs')
  return webhookUrl === undefined && mailTo === undefined ? undefined : { webhookUrl, mailTo }
}

/** Everybody who reaches a console without tokens may do everything, so it listens on this machine only. */
function readOps(variable: VariableReader) {
  const host = variable.get('OPS_HOST')
  if (isLoopbackHost(host)) variable.get('OPS_TOKEN')
  else variable.need('OPS_TOKEN', `who may use the console, as NAME:TOKEN, since OPS_HOST is ${host}`)
  return { host, port: variable.get('OPS_PORT'), refundLimit: variable.get('OPS_REFUND_LIMIT') }
}

/** `given` when the variable is set, otherwise `absent`. */
function either<const Given, const Absent>(value: unknown, given: Given, absent: Absent): Given | Absent {
  return value === undefined ? absent : given
}

function toAbsolute<File extends string | undefined>(file: File): File | string {
  return file === undefined ? file : path.resolve(file)
}
