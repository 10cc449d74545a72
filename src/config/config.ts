import path from 'node:path'
import { inspect } from 'node:util'
import { type FieldProblem, ServiceError } from '../domain/errors.js'
import type { CurrencyCode, Decimal } from '../domain/money.js'
import { type VariableName, variables } from './variables.js'

/** Where the database is: given by address, or run by us inside the data directory. */
export type DatabaseChoice = { readonly kind: 'given' } | { readonly kind: 'embedded' }

/** How another platform's catalogue is mirrored; schedules are read in UTC. */
export type UpstreamConfig = {
  /** Without trailing slash and without `/api`. */
  readonly url: string
  readonly concurrency: number
  readonly requestsPerSecond: number
  readonly schedule: string
  readonly fullSchedule: string
}

/** Everything the service can be told, frozen; holds no secret. Paths are absolute. */
export type Config = {
  readonly port: number
  readonly host: string
  /** Without trailing slash; undefined until the port is known when it was not given. */
  readonly baseUrl: string | undefined
  /** Files (PEM) that HTTPS is served with; undefined: plain HTTP. */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined
  /** Proxies whose `X-Forwarded-For` is believed: all, none, so many hops, or a list of addresses and networks. */
  readonly trustProxy: boolean | number | string
  /** 0: no limit. */
  readonly rateLimitPerMinute: number
  readonly maxConnections: number
  readonly maxConnectionsPerAddress: number
  readonly dataDir: string
  readonly database: DatabaseChoice
  readonly databasePoolSize: number
  readonly queue: { readonly engine: 'postgres' | 'redis'; readonly lockSeconds: number }
  readonly publish: {
    readonly schedule: string
    readonly timezone: string
    readonly keepReleases: number
    readonly maxLossPercent: number
  }
  /** The platform that is mirrored; undefined: none. */
  readonly upstream: UpstreamConfig | undefined
  readonly allowPrivateNetworks: boolean
  readonly standardDir: string | undefined
  readonly reportingOrg: { readonly ref: string | undefined; readonly name: string; readonly type: string }
  readonly currency: CurrencyCode
  readonly language: string
  readonly tokenTimeoutHours: number
  readonly shutdownSeconds: number
  readonly payments: {
    readonly gateway: 'sandbox'
    readonly timeoutSeconds: number
    /** The platform's share of each donation, as a percentage. */
    readonly feePercent: Decimal
  }
  /** Where a worker process tells its metrics; undefined: nowhere. */
  readonly metricsPort: number | undefined
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent'
}

/** Addresses that carry passwords; printed as `[redacted]` wherever they are printed. */
export class Secrets {
  readonly databaseUrl: string | undefined
  readonly redisUrl: string | undefined
  readonly upstreamApiKey: string | undefined

  constructor(databaseUrl: string | undefined, redisUrl: string | undefined, upstreamApiKey?: string) {
    this.databaseUrl = databaseUrl
    this.redisUrl = redisUrl
    this.upstreamApiKey = upstreamApiKey
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

type Values = {
  [Name in VariableName]: (typeof variables)[Name] extends { parse: (text: string) => infer Read }
    ? Extract<Read, { value: unknown }>['value'] | undefined
    : never
}

/**
 * Reads the environment once. Throws `configuration-invalid` with every problem in one message, each naming the
 * variable, what was expected and what came (secrets excepted).
 */
export function readConfig(environment: Environment): { config: Config; secrets: Secrets } {
  const problems: FieldProblem[] = []
  const values: Record<string, unknown> = {}
  for (const [name, definition] of Object.entries(variables)) {
    const raw = environment[name]?.trim() || definition.fallback
    if (raw === undefined) continue
    const read = definition.parse(raw)
    if ('value' in read) values[name] = read.value
    else problems.push({ field: name, expected: read.expected, got: 'secret' in definition ? '[redacted]' : raw })
  }
  if ((values.TLS_CERT_FILE === undefined) !== (values.TLS_KEY_FILE === undefined)) {
    const field = values.TLS_CERT_FILE === undefined ? 'TLS_CERT_FILE' : 'TLS_KEY_FILE'
    problems.push({ field, expected: 'a file, since TLS_CERT_FILE and TLS_KEY_FILE need each other', got: 'nothing' })
  }
  if (values.UPSTREAM_URL !== undefined) problems.push(...missingForUpstream(environment))
  if (problems.length > 0) {
    const lines = problems.map(
      ({ field, expected, got }) => `${field}: expected ${expected}, got ${JSON.stringify(got)}`,
    )
    throw new ServiceError('configuration-invalid', `the configuration is wrong: ${lines.join('; ')}`, { problems })
  }
  return assemble(values as Values)
}

/** What a mirror cannot do without: a key to read with, and an identity to publish under. */
function missingForUpstream(environment: Environment): FieldProblem[] {
  const needed = {
    UPSTREAM_API_KEY: 'the API key that UPSTREAM_URL is read with',
    REPORTING_ORG_REF: 'the IATI identifier of the publisher, which mirrored data is published under',
  }
  return Object.entries(needed).flatMap(([field, expected]) =>
    environment[field]?.trim() ? [] : [{ field, expected, got: 'nothing' }],
  )
}

function assemble(values: Values): { config: Config; secrets: Secrets } {
  const required = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error('a variable with a fallback has no value')
    return value
  }
  const config: Config = {
    port: required(values.PORT),
    host: required(values.HOST),
    baseUrl: values.BASE_URL,
    tls:
      values.TLS_CERT_FILE === undefined || values.TLS_KEY_FILE === undefined
        ? undefined
        : { certFile: path.resolve(values.TLS_CERT_FILE), keyFile: path.resolve(values.TLS_KEY_FILE) },
    trustProxy: required(values.TRUST_PROXY),
    rateLimitPerMinute: required(values.RATE_LIMIT_PER_MINUTE),
    maxConnections: required(values.MAX_CONNECTIONS),
    maxConnectionsPerAddress: required(values.MAX_CONNECTIONS_PER_ADDRESS),
    dataDir: path.resolve(required(values.GIVING_DATA_DIR)),
    database: { kind: values.DATABASE_URL === undefined ? 'embedded' : 'given' },
    databasePoolSize: required(values.DATABASE_POOL_SIZE),
    queue: {
      engine: values.REDIS_URL === undefined ? 'postgres' : 'redis',
      lockSeconds: required(values.QUEUE_LOCK_SECONDS),
    },
    publish: {
      schedule: required(values.PUBLISH_SCHEDULE),
      timezone: required(values.PUBLISH_TIMEZONE),
      keepReleases: required(values.PUBLISH_KEEP_RELEASES),
      maxLossPercent: required(values.PUBLISH_MAX_LOSS_PERCENT),
    },
    upstream:
      values.UPSTREAM_URL === undefined
        ? undefined
        : {
            url: values.UPSTREAM_URL,
            concurrency: required(values.UPSTREAM_CONCURRENCY),
            requestsPerSecond: required(values.UPSTREAM_RATE),
            schedule: required(values.SYNC_SCHEDULE),
            fullSchedule: required(values.FULL_SYNC_SCHEDULE),
          },
    allowPrivateNetworks: required(values.ALLOW_PRIVATE_NETWORKS),
    standardDir: values.IATI_STANDARD_DIR === undefined ? undefined : path.resolve(values.IATI_STANDARD_DIR),
    reportingOrg: {
      ref: values.REPORTING_ORG_REF,
      name: required(values.REPORTING_ORG_NAME),
      type: required(values.REPORTING_ORG_TYPE),
    },
    currency: required(values.DEFAULT_CURRENCY),
    language: required(values.DEFAULT_LANGUAGE),
    tokenTimeoutHours: required(values.TOKEN_TIMEOUT_HOURS),
    shutdownSeconds: required(values.SHUTDOWN_SECONDS),
    payments: {
      gateway: required(values.PAYMENT_GATEWAY),
      timeoutSeconds: required(values.PAYMENT_TIMEOUT_SECONDS),
      feePercent: required(values.PLATFORM_FEE_PERCENT),
    },
    metricsPort: values.METRICS_PORT,
    logLevel: required(values.LOG_LEVEL),
  }
  return {
    config: Object.freeze(config),
    secrets: new Secrets(values.DATABASE_URL, values.REDIS_URL, values.UPSTREAM_API_KEY),
  }
}
