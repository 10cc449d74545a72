import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { inspect } from 'node:util'
import { type FieldProblem, ServiceError } from '../../kernel/errors.js'
import type { LicenceId } from '../../kernel/licence.js'
import { isLoopbackHost } from '../../kernel/loopback-host.js'
import type { CurrencyCode, Decimal } from '../../kernel/money.js'
import { type Variable, type VariableName, variables } from './variables.js'

/** How another platform's catalogue is mirrored; schedules are read in UTC. */
export type UpstreamConfig = {
  /** Without trailing slash and without `/api`. */
  readonly url: string
  readonly concurrency: number
  readonly requestsPerSecond: number
  readonly schedule: string
  readonly fullSchedule: string
}

export type BraintreeConfig = {
  readonly environment: 'sandbox' | 'production'
  readonly merchantId: string
  readonly publicKey: string
  /** The one of the platform's currency. */
  readonly merchantAccount: string
}

/** Where and how the published files are registered. */
export type RegistryConfig = {
  /** The API, without trailing slash. */
  readonly url: string
  readonly account:
    | { readonly kind: 'client'; readonly clientId: string; readonly tokenUrl: string }
    | { readonly kind: 'token'; readonly file: string | undefined }
  /** Whether new segments are registered by themselves. */
  readonly sync: boolean
  readonly publisherRef: string
  readonly baseUrl: string
  readonly licence: string
  readonly visibility: 'public' | 'private'
  /** Undefined: the short name of the publisher. */
  readonly prefix: string | undefined
}

/** A bucket of a service that speaks S3. */
export type BucketConfig = {
  readonly name: string
  readonly region: string
  /** The address of a service other than AWS. */
  readonly endpoint: string | undefined
  /** Undefined: keys are found as the AWS SDK finds them. */
  readonly accessKeyId: string | undefined
}

/** Every field of the configuration, without secrets. Paths are absolute. */
export type Config = {
  readonly port: number
  readonly host: string
  /** Without trailing slash; undefined until the port is known when it was not given. */
  readonly baseUrl: string | undefined
  /** Files (PEM) that HTTPS is served with; undefined: plain HTTP. */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined
  /** Proxies whose `X-Forwarded-For` is trusted: all, none, a number of hops, or a list of addresses and networks. */
  readonly trustProxy: boolean | number | string
  /** Whether credentials may come over plain HTTP from other machines. */
  readonly allowPlainHttp: boolean
  /** 0: no limit. */
  readonly rateLimitPerMinute: number
  /** 0: no limit. */
  readonly rateLimitPerAddress: number
  /** 0: no limit. */
  readonly downloadMegabytesPerSecond: number
  /** Where the proxy before the API has the published files; undefined: the API sends them itself. */
  readonly accelLocation: string | undefined
  readonly maxConnections: number
  readonly maxConnectionsPerAddress: number
  readonly dataDir: string
  /** A given server, or one that this service runs inside the data directory. */
  readonly database: { readonly kind: 'given' | 'embedded' }
  readonly databasePoolSize: number
  readonly queue: { readonly engine: 'postgres' | 'redis'; readonly lockSeconds: number }
  readonly publish: {
    readonly schedule: string
    readonly timezone: string
    readonly keepReleases: number
    readonly maxLossPercent: number
  }
  /** Address of the mirrored platform; undefined: none. Needs no key. */
  readonly upstreamUrl: string | undefined
  /** How a process that syncs reads that platform; undefined: none. */
  readonly upstream: UpstreamConfig | undefined
  readonly allowPrivateNetworks: boolean
  readonly standardDir: string | undefined
  readonly reportingOrg: { readonly ref: string | undefined; readonly name: string; readonly type: string }
  readonly licence: LicenceId | undefined
  /** Undefined: the published files are not registered. */
  readonly registry: RegistryConfig | undefined
  /** Whether releases are signed. */
  readonly signing: 'none' | 'given'
  readonly currency: CurrencyCode
  readonly language: string
  /** Whether pages for people are served beside the one for developers. */
  readonly portal: boolean
  readonly tokenTimeoutHours: number
  /** Who may make an account: everybody, who has an invitation, or the operator alone. */
  readonly registration: 'open' | 'invite' | 'closed'
  /** Processes of `giving worker`. */
  readonly workerProcesses: number
  readonly shutdownSeconds: number
  /** Undefined: what suits the command. */
  readonly shutdownDrainSeconds: number | undefined
  readonly payments: {
    readonly gateway: 'sandbox' | 'braintree' | 'stripe'
    readonly timeoutSeconds: number
    /** The platform's share of each donation, as a percentage. */
    readonly feePercent: Decimal
    /** A server in place of the processor's. */
    readonly address: { readonly host: string; readonly port: string; readonly caFile: string | undefined } | undefined
    /** Defined when it is the gateway. */
    readonly braintree: BraintreeConfig | undefined
    /** Defined when it is the gateway. */
    readonly stripe: { readonly publishableKey: string } | undefined
  }
  readonly donors: {
    readonly keys: 'given' | 'none'
    /** After how many days donors are erased; undefined: never. */
    readonly retentionDays: number | undefined
  }
  /** The bucket that releases are delivered to as well; undefined: none. */
  readonly bucket: BucketConfig | undefined
  /** The WebSub hub of the feeds; undefined: none. */
  readonly websubHub: string | undefined
  /** How receipts and codes of accounts are mailed; undefined: they are not. */
  readonly mail: { readonly from: string; readonly templatesDir: string | undefined } | undefined
  /** The alert recipient; undefined: nobody. */
  readonly alerts: { readonly webhookUrl: string | undefined; readonly mailTo: string | undefined } | undefined
  /** Where the console listens; without a port at 8081 or, where that is taken, at a free one. */
  readonly ops: { readonly host: string; readonly port: number | undefined }
  /** Whether the API's port has the metrics too. */
  readonly metricsOnApi: boolean
  /** Port of the metrics of a worker process; undefined: they are not served. */
  readonly metricsPort: number | undefined
  /** Undefined: `info`, and `warn` in a terminal. */
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent' | undefined
  readonly logFormat: 'auto' | 'text' | 'json'
}

/** The fields of the configuration that a command uses. */
export type ConfigOf<Field extends keyof Config> = Readonly<Pick<Config, Field>>

/** The secrets of the fields that were read; printed as `[redacted]` wherever they are printed. */
export class Secrets {
  readonly databaseUrl: string | undefined
  readonly redisUrl: string | undefined
  readonly upstreamApiKey: string | undefined
  readonly donorKeys: string | undefined
  readonly signingKey: string | undefined
  readonly registryClientSecret: string | undefined
  readonly registryToken: string | undefined
  /** What the payment processor is called with. */
  readonly paymentKey: string | undefined
  /** What a processor signs its webhooks with, where that is no key of its API. */
  readonly webhookSecret: string | undefined
  readonly smtpUrl: string | undefined
  readonly alertWebhookSecret: string | undefined
  readonly bucketSecretKey: string | undefined
  readonly opsTokens: string | undefined

  constructor(found: Partial<Omit<Secrets, 'toJSON' | typeof inspect.custom>> = {}) {
    this.databaseUrl = found.databaseUrl
    this.redisUrl = found.redisUrl
    this.upstreamApiKey = found.upstreamApiKey
    this.donorKeys = found.donorKeys
    this.signingKey = found.signingKey
    this.registryClientSecret = found.registryClientSecret
    this.registryToken = found.registryToken
    this.paymentKey = found.paymentKey
    this.webhookSecret = found.webhookSecret
    this.smtpUrl = found.smtpUrl
    this.alertWebhookSecret = found.alertWebhookSecret
    this.bucketSecretKey = found.bucketSecretKey
    this.opsTokens = found.opsTokens
  }

  toJSON(): string {
    return '[redacted]'
  }

  [inspect.custom](): string {
    return 'Secrets [redacted]'
  }
}

/** Raw environment: names to texts. */
export type Environment = Readonly<Record<string, string | undefined>>

/** A variable with a default always has a value; the others may have none. */
type Value<Name extends VariableName> = (typeof variables)[Name] extends {
  fallback: infer Fallback
  parse: (text: string) => infer Read
}
  ? Extract<Read, { value: unknown }>['value'] | (Fallback extends string ? never : undefined)
  : never

/** Reads single variables and collects what is wrong with them. */
class VariableReader {
  readonly problems: FieldProblem[] = []
  readonly #environment: Environment
  readonly #read = new Map<VariableName, unknown>()

  constructor(environment: Environment) {
    this.#environment = environment
  }

  /** The value of a variable; while it is wrong, that of its default. */
  get<Name extends VariableName>(name: Name): Value<Name> {
    if (!this.#read.has(name)) this.#read.set(name, this.#parse(name))
    return this.#read.get(name) as Value<Name>
  }

  /** Reports a variable that is needed and not set. */
  require(name: VariableName, expected: string): void {
    if (!this.#raw(name)) this.problems.push({ field: name, expected, got: 'nothing' })
  }

  /** The file that a secret is in; undefined when it is in none. */
  fileOf(name: VariableName): string | undefined {
    return toAbsolute(this.#environment[`${name}_FILE`]?.trim() || undefined)
  }

  secrets(): Secrets {
    const found = (name: VariableName) => this.#read.get(name) as string | undefined
    return new Secrets({
      databaseUrl: found('DATABASE_URL'),
      redisUrl: found('REDIS_URL'),
      upstreamApiKey: found('UPSTREAM_API_KEY'),
      donorKeys: found('DONOR_KEYS'),
      signingKey: found('SIGNING_KEY'),
      registryClientSecret: found('REGISTRY_CLIENT_SECRET'),
      registryToken: found('REGISTRY_TOKEN'),
      paymentKey: found('BRAINTREE_PRIVATE_KEY') ?? found('STRIPE_SECRET_KEY'),
      webhookSecret: found('STRIPE_WEBHOOK_SECRET'),
      smtpUrl: found('SMTP_URL'),
      alertWebhookSecret: found('ALERT_WEBHOOK_SECRET'),
      bucketSecretKey: found('FEEDS_S3_SECRET_ACCESS_KEY'),
      opsTokens: found('OPS_TOKEN'),
    })
  }

  #parse(name: VariableName): unknown {
    const { fallback, parse, ...definition }: Variable<unknown> = variables[name]
    const raw = this.#raw(name)
    if (raw) {
      const read = parse(raw)
      if ('value' in read) return read.value
      this.problems.push({ field: name, expected: read.expected, got: definition.secret ? '[redacted]' : raw })
    }
    const byDefault = fallback === undefined ? undefined : parse(fallback)
    return byDefault && 'value' in byDefault ? byDefault.value : undefined
  }

  /** The text of a variable; that of a secret may be in the file that `NAME_FILE` names. */
  #raw(name: VariableName): string | undefined {
    const given = this.#environment[name]?.trim()
    const definition: Variable<unknown> = variables[name]
    const field = `${name}_FILE`
    const file = definition.secret && this.#environment[field]?.trim()
    if (!file) return given
    if (given) {
      this.#refuse({ field, expected: `nothing, since ${name} is set`, got: file })
      return given
    }
    try {
      const text = readFileSync(file, 'utf8').trim()
      if (text === '') this.#refuse({ field, expected: 'a file with the secret', got: file })
      return text
    } catch {
      this.#refuse({ field, expected: 'a file that can be read', got: file })
      return undefined
    }
  }

  #refuse(problem: FieldProblem): void {
    if (!this.problems.some(({ field }) => field === problem.field)) this.problems.push(problem)
  }
}

/** The variables behind each field: a command that uses a field asks for its variables, and for no others. */
const fields: { readonly [Field in keyof Config]: (variable: VariableReader) => Config[Field] } = {
  port: (variable) => variable.get('PORT'),
  host: (variable) => variable.get('HOST'),
  baseUrl: (variable) => variable.get('BASE_URL'),
  tls: readTls,
  trustProxy: (variable) => variable.get('TRUST_PROXY'),
  allowPlainHttp: (variable) => variable.get('ALLOW_PLAIN_HTTP'),
  rateLimitPerMinute: (variable) => variable.get('RATE_LIMIT_PER_MINUTE'),
  rateLimitPerAddress: (variable) => variable.get('RATE_LIMIT_PER_ADDRESS'),
  downloadMegabytesPerSecond: (variable) => variable.get('DOWNLOAD_MEGABYTES_PER_SECOND'),
  accelLocation: (variable) => variable.get('ACCEL_LOCATION'),
  maxConnections: (variable) => variable.get('MAX_CONNECTIONS'),
  maxConnectionsPerAddress: (variable) => variable.get('MAX_CONNECTIONS_PER_ADDRESS'),
  dataDir: (variable) => path.resolve(variable.get('GIVING_DATA_DIR')),
  database: (variable) => ({ kind: variable.get('DATABASE_URL') === undefined ? 'embedded' : 'given' }),
  // Earlier versions published with 3.
  databasePoolSize: (variable) => Math.max(4, variable.get('DATABASE_POOL_SIZE')),
  queue: (variable) => ({
    engine: variable.get('REDIS_URL') === undefined ? 'postgres' : 'redis',
    lockSeconds: variable.get('QUEUE_LOCK_SECONDS'),
  }),
  publish: (variable) => ({
    schedule: variable.get('PUBLISH_SCHEDULE'),
    timezone: variable.get('PUBLISH_TIMEZONE'),
    keepReleases: variable.get('PUBLISH_KEEP_RELEASES'),
    maxLossPercent: variable.get('PUBLISH_MAX_LOSS_PERCENT'),
  }),
  upstreamUrl: (variable) => variable.get('UPSTREAM_URL'),
  upstream: readUpstream,
  allowPrivateNetworks: (variable) => variable.get('ALLOW_PRIVATE_NETWORKS'),
  standardDir: (variable) => toAbsolute(variable.get('IATI_STANDARD_DIR')),
  reportingOrg: (variable) => ({
    ref: variable.get('REPORTING_ORG_REF'),
    name: variable.get('REPORTING_ORG_NAME'),
    type: variable.get('REPORTING_ORG_TYPE'),
  }),
  licence: (variable) => variable.get('LICENCE_ID'),
  registry: readRegistry,
  signing: (variable) => (variable.get('SIGNING_KEY') === undefined ? 'none' : 'given'),
  currency: (variable) => variable.get('DEFAULT_CURRENCY'),
  language: (variable) => variable.get('DEFAULT_LANGUAGE'),
  portal: (variable) => variable.get('PORTAL') === 'on',
  tokenTimeoutHours: (variable) => variable.get('TOKEN_TIMEOUT_HOURS'),
  registration: (variable) =>
    variable.get('REGISTRATION') ?? (variable.get('REPORTING_ORG_REF') === undefined ? 'open' : 'closed'),
  // More than four of them and an API can need more connections than PostgreSQL accepts by default (100).
  workerProcesses: (variable) =>
    variable.get('WORKER_PROCESSES') ?? Math.min(4, Math.max(1, Math.floor(availableParallelism() / 2))),
  shutdownSeconds: (variable) => variable.get('SHUTDOWN_SECONDS'),
  shutdownDrainSeconds: (variable) => variable.get('SHUTDOWN_DRAIN_SECONDS'),
  payments: readPayments,
  donors: (variable) => ({
    keys: variable.get('DONOR_KEYS') === undefined ? 'none' : 'given',
    retentionDays: variable.get('DONOR_RETENTION_DAYS'),
  }),
  bucket: readBucket,
  websubHub: (variable) => variable.get('WEBSUB_HUB'),
  mail: readMail,
  alerts: readAlerts,
  ops: readOps,
  metricsOnApi: (variable) => variable.get('METRICS_ON_API'),
  metricsPort: (variable) => variable.get('METRICS_PORT'),
  logLevel: (variable) => variable.get('LOG_LEVEL'),
  logFormat: (variable) => variable.get('LOG_FORMAT'),
}

/**
 * Reads these fields of the configuration, all of them when none are named. Throws `configuration-invalid` with every
 * problem of their variables in one message, each naming the variable, what was expected and what came (secrets
 * excepted).
 */
export function readConfig<Field extends keyof Config = keyof Config>(
  environment: Environment,
  wanted: readonly Field[] = Object.keys(fields) as Field[],
): { config: ConfigOf<Field>; secrets: Secrets } {
  const variable = new VariableReader(environment)
  // In the order of the table, so that problems always come in the same order.
  const used = (Object.keys(fields) as Field[]).filter((field) => wanted.includes(field))
  const config = Object.fromEntries(used.map((field) => [field, fields[field](variable)])) as ConfigOf<Field>
  const { problems } = variable
  if (problems.length > 0) {
    const lines = problems.map(
      ({ field, expected, got }) => `${field}: expected ${expected}, got ${JSON.stringify(got)}`,
    )
    throw new ServiceError('configuration-invalid', `the configuration is wrong: ${lines.join('; ')}`, { problems })
  }
  return { config: Object.freeze(config), secrets: variable.secrets() }
}

function readTls(variable: VariableReader): Config['tls'] {
  const [certFile, keyFile] = [toAbsolute(variable.get('TLS_CERT_FILE')), toAbsolute(variable.get('TLS_KEY_FILE'))]
  if (certFile !== undefined && keyFile !== undefined) return { certFile, keyFile }
  if (certFile !== undefined || keyFile !== undefined) {
    const missing = certFile === undefined ? 'TLS_CERT_FILE' : 'TLS_KEY_FILE'
    variable.require(missing, 'a file, since TLS_CERT_FILE and TLS_KEY_FILE need each other')
  }
  return undefined
}

function readPayments(variable: VariableReader): Config['payments'] {
  const gateway = variable.get('PAYMENT_GATEWAY')
  return {
    gateway,
    timeoutSeconds: variable.get('PAYMENT_TIMEOUT_SECONDS'),
    feePercent: variable.get('PLATFORM_FEE_PERCENT'),
    address: gateway === 'sandbox' ? undefined : readProcessorAddress(variable),
    braintree: gateway === 'braintree' ? readBraintree(variable) : undefined,
    stripe: gateway === 'stripe' ? readStripe(variable) : undefined,
  }
}

function readProcessorAddress(variable: VariableReader): Config['payments']['address'] {
  const address = variable.get('PAYMENT_GATEWAY_URL')
  if (address === undefined) return undefined
  const { hostname, port } = new URL(address)
  return { host: hostname, port: port || '443', caFile: toAbsolute(variable.get('PAYMENT_GATEWAY_CA_FILE')) }
}

function readBraintree(variable: VariableReader): BraintreeConfig {
  const currency = variable.get('DEFAULT_CURRENCY')
  const accounts = variable.get('BRAINTREE_MERCHANT_ACCOUNTS') ?? {}
  variable.get('BRAINTREE_PRIVATE_KEY')
  const names = ['BRAINTREE_MERCHANT_ID', 'BRAINTREE_PUBLIC_KEY', 'BRAINTREE_PRIVATE_KEY'] as const
  for (const name of names) variable.require(name, 'that of your account, for PAYMENT_GATEWAY=braintree')
  const merchantAccount = accounts[currency]
  if (merchantAccount === undefined) {
    const [field, expected] = [
      'BRAINTREE_MERCHANT_ACCOUNTS',
      `an account for ${currency}, the currency of the platform`,
    ]
    if (!variable.problems.some((problem) => problem.field === field)) {
      variable.problems.push({ field, expected, got: Object.keys(accounts).join(', ') || 'nothing' })
    }
  }
  return {
    environment: variable.get('BRAINTREE_ENVIRONMENT'),
    merchantId: variable.get('BRAINTREE_MERCHANT_ID') ?? '',
    publicKey: variable.get('BRAINTREE_PUBLIC_KEY') ?? '',
    merchantAccount: merchantAccount ?? '',
  }
}

function readStripe(variable: VariableReader): Config['payments']['stripe'] {
  const [secret = '', publishableKey = ''] = [variable.get('STRIPE_SECRET_KEY'), variable.get('STRIPE_PUBLISHABLE_KEY')]
  variable.get('STRIPE_WEBHOOK_SECRET')
  const names = ['STRIPE_SECRET_KEY', 'STRIPE_PUBLISHABLE_KEY'] as const
  for (const name of names) variable.require(name, 'that of your account, for PAYMENT_GATEWAY=stripe')
  const mode = secret.includes('_live_') ? 'live' : 'test'
  if (secret !== '' && publishableKey !== '' && !publishableKey.startsWith(`pk_${mode}_`)) {
    const expected = `a key that begins with pk_${mode}_, as STRIPE_SECRET_KEY is of that mode`
    variable.problems.push({ field: 'STRIPE_PUBLISHABLE_KEY', expected, got: publishableKey.slice(0, 8) })
  }
  return { publishableKey }
}

/** A process that mirrors needs a key to read with and an identity to publish under. */
function readUpstream(variable: VariableReader): UpstreamConfig | undefined {
  const url = variable.get('UPSTREAM_URL')
  if (url === undefined) return undefined
  variable.get('UPSTREAM_API_KEY')
  variable.require('UPSTREAM_API_KEY', 'the API key that UPSTREAM_URL is read with')
  variable.require('REPORTING_ORG_REF', 'the IATI identifier of the publisher, which mirrored data is published under')
  return {
    url,
    concurrency: variable.get('UPSTREAM_CONCURRENCY'),
    requestsPerSecond: variable.get('UPSTREAM_RATE'),
    schedule: variable.get('SYNC_SCHEDULE'),
    fullSchedule: variable.get('FULL_SYNC_SCHEDULE'),
  }
}

/** A process that registers needs an account there, and facts of the publisher that have no default. */
function readRegistry(variable: VariableReader): RegistryConfig | undefined {
  const url = variable.get('REGISTRY_URL')
  if (url === undefined) return undefined
  variable.require('REPORTING_ORG_REF', 'the IATI identifier of the publisher, as the registry has it')
  variable.require('BASE_URL', 'the public address of the published files')
  variable.require('LICENCE_ID', 'the licence that the datasets are registered with')
  const clientId = variable.get('REGISTRY_CLIENT_ID')
  if (clientId !== undefined) {
    variable.get('REGISTRY_CLIENT_SECRET')
    variable.require('REGISTRY_CLIENT_SECRET', 'the secret of REGISTRY_CLIENT_ID')
  } else {
    variable.get('REGISTRY_TOKEN')
    variable.require('REGISTRY_TOKEN', 'a token, or REGISTRY_CLIENT_ID and REGISTRY_CLIENT_SECRET')
  }
  return {
    url,
    account:
      clientId === undefined
        ? { kind: 'token', file: variable.fileOf('REGISTRY_TOKEN') }
        : { kind: 'client', clientId, tokenUrl: variable.get('REGISTRY_TOKEN_URL') },
    sync: variable.get('REGISTRY_SYNC'),
    publisherRef: variable.get('REPORTING_ORG_REF') ?? '',
    baseUrl: variable.get('BASE_URL') ?? '',
    licence: variable.get('LICENCE_ID') ?? '',
    visibility: variable.get('REGISTRY_VISIBILITY'),
    prefix: variable.get('REGISTRY_DATASET_PREFIX'),
  }
}

function readBucket(variable: VariableReader): Config['bucket'] {
  const name = variable.get('FEEDS_S3_BUCKET')
  if (name === undefined) return undefined
  const [accessKeyId, secret] = [variable.get('FEEDS_S3_ACCESS_KEY_ID'), variable.get('FEEDS_S3_SECRET_ACCESS_KEY')]
  if ((accessKeyId === undefined) !== (secret === undefined)) {
    const missing = accessKeyId === undefined ? 'FEEDS_S3_ACCESS_KEY_ID' : 'FEEDS_S3_SECRET_ACCESS_KEY'
    variable.require(missing, 'a key, since both parts of it are needed')
  }
  return { name, region: variable.get('FEEDS_S3_REGION'), endpoint: variable.get('FEEDS_S3_ENDPOINT'), accessKeyId }
}

function readMail(variable: VariableReader): Config['mail'] {
  if (variable.get('SMTP_URL') === undefined) return undefined
  variable.require('MAIL_FROM', 'the sender of mail, which SMTP_URL needs')
  return { from: variable.get('MAIL_FROM') ?? '', templatesDir: toAbsolute(variable.get('MAIL_TEMPLATES_DIR')) }
}

function readAlerts(variable: VariableReader): Config['alerts'] {
  const [webhookUrl, mailTo] = [variable.get('ALERT_WEBHOOK_URL'), variable.get('ALERT_MAIL_TO')]
  if (webhookUrl !== undefined && variable.get('ALERT_WEBHOOK_SECRET') === undefined) {
    variable.require('ALERT_WEBHOOK_SECRET', 'the secret of ALERT_WEBHOOK_URL')
  }
  if (mailTo !== undefined) variable.require('SMTP_URL', 'the mail server, which ALERT_MAIL_TO needs')
  return webhookUrl === undefined && mailTo === undefined ? undefined : { webhookUrl, mailTo }
}

/** Whoever reaches a console without tokens may do everything: only this machine may. */
function readOps(variable: VariableReader): Config['ops'] {
  const host = variable.get('OPS_HOST')
  if (variable.get('OPS_TOKEN') === undefined && !isLoopbackHost(host)) {
    variable.require('OPS_TOKEN', `who may use the console, as NAME:TOKEN, since OPS_HOST is ${host}`)
  }
  return { host, port: variable.get('OPS_PORT') }
}

function toAbsolute(file: string | undefined): string | undefined {
  return file === undefined ? undefined : path.resolve(file)
}
