import { isIP } from 'node:net'
import { expectedBrandColours, parseBrandColours } from '../../kernel/brand-colours.js'
import { readDatabaseAddress } from '../../kernel/database-address.js'
import { parseDonorKeys } from '../../kernel/donor.js'
import { licenceIds } from '../../kernel/licence.js'
import { isLoopbackHost } from '../../kernel/loopback-host.js'
import { type Decimal, parseDecimal } from '../../kernel/money.js'
import { readRedisAddress } from '../../kernel/redis-address.js'
import { parseSigningKey } from '../../kernel/release-chain.js'
import { textLike, type ValueType, valueTypes, wholeNumberIn, wordOf } from '../../kernel/values.js'
import { cronSyntaxProblem } from './cron.js'
import { parseOperatorTokens } from './operator-token.js'

/** How a variable is read; what is expected may follow from the text. */
type VariableType<T> = Pick<ValueType<T>, 'parse'> & { readonly expected: string | ((text: string) => string) }

/** One variable: its meaning, how it is read, and its default. */
export type Variable<T = unknown, Fallback = string | undefined, Secret = string | undefined> = VariableType<T> & {
  readonly meaning: string
  /** The text used when the variable is unset or empty; undefined: the variable is optional. */
  readonly fallback: Fallback
  /** The name among the secrets, which are kept apart from the configuration and never printed. */
  readonly secret: Secret
}

const text = (expected: string, pattern = /^.+$/s) => textLike(pattern, expected)

const url = (...protocols: readonly string[]): ValueType<string> => ({
  expected: `an address that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
  parse: (raw) => (URL.canParse(raw) && protocols.includes(new URL(raw).protocol) ? raw : undefined),
})

const databaseUrl: ValueType<string> = {
  expected:
    'an address such as postgres://user@host/database, or postgres://user@a,b/database?target_session_attrs=read-write',
  parse: (raw) => (readDatabaseAddress(raw) ? raw : undefined),
}

const redisUrl: ValueType<string> = {
  expected:
    'an address that begins with redis:// or rediss://, or redis+sentinel://host,host/name, the name being that of the primary, or redis+cluster://host,host',
  parse: (raw) => (readRedisAddress(raw) ? raw : undefined),
}

const baseUrl: ValueType<string> = {
  expected: 'an http or https address without query or fragment',
  parse: (raw) => (/[?#]/.test(raw) ? undefined : url('http:', 'https:').parse(raw)?.replace(/\/+$/, '')),
}

/** An address that secrets are sent to. */
const encryptedUrl: ValueType<string> = {
  expected: 'an https address without query or fragment, or http on this machine',
  parse: (raw) => {
    const read = baseUrl.parse(raw)
    const isSafe = read?.startsWith('https:') || (read !== undefined && isLoopbackHost(new URL(raw).hostname))
    return isSafe ? read : undefined
  },
}

/** Trusted proxies: all, none, a number of hops, or a list of addresses, networks and names of private networks. */
const proxies: ValueType<boolean | number | string> = {
  expected: 'true, false, a number of hops from 1 to 9, or addresses and networks separated by commas',
  parse: (raw) => {
    const parts = raw.split(',').map((part) => part.trim())
    const networks = parts.every(isNetwork) ? parts.join(',') : undefined
    return valueTypes.truth.parse(raw) ?? wholeNumberIn(1, 9).parse(raw) ?? networks
  },
}

function isNetwork(text: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(text)) return true
  const [, address = '', prefix] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const version = isIP(address)
  return version !== 0 && Number(prefix ?? 0) <= (version === 4 ? 32 : 128)
}

const hosts: ValueType<readonly string[]> = {
  expected: 'names or addresses of hosts without port, separated by commas',
  parse: (raw) => {
    const names = raw.split(',').map((name) => name.trim().toLowerCase())
    return names.every((name) => /^[a-z0-9.:[\]-]+$/.test(name) && hostOf(name) === name) ? names : undefined
  },
}

function hostOf(name: string): string | undefined {
  return URL.canParse(`https://${name}`) ? new URL(`https://${name}`).hostname : undefined
}

const cron: VariableType<string> = {
  expected: (raw) => `a cron expression of five or six fields (${cronSyntaxProblem(raw)})`,
  parse: (raw) => (cronSyntaxProblem(raw) === undefined ? raw : undefined),
}

const timezone: ValueType<string> = {
  expected: 'an IANA time zone such as UTC or Europe/Dublin',
  parse: (raw) => {
    try {
      new Intl.DateTimeFormat('en', { timeZone: raw })
      return raw
    } catch {
      return undefined
    }
  },
}

const currency = { ...valueTypes.currency, expected: 'an ISO 4217 code of three capitals' }

const accountsByCurrency: ValueType<Readonly<Record<string, string>>> = {
  expected: 'currencies and accounts such as USD:giving_usd, separated by commas',
  parse: (raw) => {
    const pairs = raw.split(',').map((part) => /^([A-Z]{3}):([\w-]{1,64})$/.exec(part.trim()) ?? [])
    if (!pairs.every(({ length }) => length === 3)) return undefined
    return Object.fromEntries(pairs.map(([, code = '', account = '']) => [code, account]))
  },
}

type GiftLimits = { readonly least: Decimal; readonly most?: Decimal | undefined }

const limitsByCurrency: ValueType<Readonly<Record<string, GiftLimits>>> = {
  expected:
    'currencies with their smallest and largest donation, such as USD:5-50000,EUR:4.50-, separated by commas, no currency twice',
  parse: (raw) => {
    const limits = new Map<string, GiftLimits>()
    for (const part of raw.split(',')) {
      const [, code = '', from = '', to] =
        /^([A-Z]{3}):(\d{1,9}(?:\.\d{1,3})?)-(\d{1,9}(?:\.\d{1,3})?)?$/.exec(part.trim()) ?? []
      const [least, most] = [parseDecimal(from), to === undefined ? undefined : parseDecimal(to)]
      if (least === undefined || limits.has(code) || Number(least) <= 0 || Number(most ?? least) < Number(least))
        return undefined
      limits.set(code, { least, most })
    }
    return Object.fromEntries(limits)
  },
}

/** What `ASSUMED_CODES` may name, with the codes that are active in the standard's lists. */
const assumedCodes = new Map([
  ['flow-type', /^(?:10|2[12]|3[067]|[45]0)$/],
  ['finance-type', /^(?:110|1100|210|31[01]|42[1-5]|43[1-3]|5[123]0|61[0-8]|62[0-7]|63\d)$/],
  ['aid-type', /^(?:A0[12]|B0[1-4]|B02[12]|B03[1-3]|C01|D0[12]|E0[12]|[FG]01|H0[1-6])$/],
  ['tied-status', /^[345]$/],
  ['location-class', /^[1-4]$/],
  ['location-exactness', /^[12]$/],
  ['budget-status', /^[12]$/],
])

const codesByName: ValueType<Readonly<Record<string, string>>> = {
  expected: `names and codes such as tied-status=4 or aid-type=none, separated by commas; names are ${[...assumedCodes.keys()].join(', ')}`,
  parse: (raw) => {
    const pairs = raw.split(',').map((part) => /^([\w-]+)=(\w+)$/.exec(part.trim()) ?? [])
    const codes = new Map(pairs.map(([, name = '', code = '']) => [name, code]))
    const isUsable = [...codes].every(([name, code]) => {
      const pattern = assumedCodes.get(name)
      return pattern !== undefined && (code === 'none' ? name !== 'budget-status' : pattern.test(code))
    })
    return isUsable && codes.size === pairs.length ? Object.fromEntries(codes) : undefined
  },
}

const refundLimit: ValueType<Decimal> = {
  expected: 'an amount such as 500 or 500.00',
  parse: (raw) => (/^\d{1,12}(\.\d{1,3})?$/.test(raw) ? parseDecimal(raw) : undefined),
}

const percent: ValueType<Decimal> = {
  expected: 'a percentage from 0 to 99.99 with at most two decimals',
  parse: (raw) => (/^\d{1,2}(\.\d{1,2})?$/.test(raw) ? parseDecimal(raw) : undefined),
}

/** A text that `read` can read. The value stays the text; the code that uses it reads it again. */
function readableBy(read: (text: string) => { value: unknown } | { expected: string }): VariableType<string> {
  const expectedOf = (raw: string) => {
    const found = read(raw)
    return 'expected' in found ? found.expected : undefined
  }
  return { expected: (raw) => expectedOf(raw) ?? '', parse: (raw) => (expectedOf(raw) === undefined ? raw : undefined) }
}

function variable<T, Fallback extends string | undefined = undefined>(
  meaning: string,
  type: VariableType<T>,
  fallback?: Fallback,
): Variable<T, Fallback, undefined> {
  return { meaning, ...type, fallback: fallback as Fallback, secret: undefined }
}

function secret<Name extends string>(
  secret: Name,
  meaning: string,
  type: VariableType<string>,
): Variable<string, undefined, Name> {
  return { meaning, ...type, fallback: undefined, secret }
}

/**
 * Every environment variable of the service. `.env.example` and `docs/reference/configuration.md` list the same names and
 * defaults (a test compares).
 */
export const variables = {
  PORT: variable('Port of the API process; 0 picks a free one.', wholeNumberIn(0, 65_535), '8080'),
  HOST: variable('Address the API process listens on.', text('a host name or address', /^[\w.:-]+$/), '127.0.0.1'),
  BASE_URL: variable('Public address of this service, used in links; http://HOST:PORT when unset.', baseUrl),
  TLS_CERT_FILE: variable(
    'Certificate chain (PEM) to serve HTTPS with; needs TLS_KEY_FILE too; unset: plain HTTP.',
    text('a file'),
  ),
  TLS_KEY_FILE: variable('Private key (PEM) of TLS_CERT_FILE.', text('a file')),
  TRUST_PROXY: variable(
    "Whose X-Forwarded-For is believed: addresses and networks separated by commas, a number of hops, false, or true (everybody's).",
    proxies,
    'false',
  ),
  ALLOW_PLAIN_HTTP: variable(
    'Whether accounts, tokens and donations also answer plain HTTP from other machines; false: HTTPS only.',
    valueTypes.truth,
    'false',
  ),
  RATE_LIMIT_PER_MINUTE: variable(
    'Most API requests of one key in a minute, counted by each process; 0: no limit.',
    wholeNumberIn(0, 1_000_000),
    '1200',
  ),
  RATE_LIMIT_PER_ADDRESS: variable(
    'Most requests from one address in a minute, counted by each process; published files do not count; 0: no limit.',
    wholeNumberIn(0, 1_000_000),
    '3000',
  ),
  DOWNLOAD_MEGABYTES_PER_SECOND: variable(
    'Most megabytes of published files that each process sends to one address in a second; 0: no limit.',
    wholeNumberIn(0, 100_000),
    '50',
  ),
  ACCEL_LOCATION: variable(
    'Location of the nginx before the API that has the folder feeds of the data directory: whole files are left to it (X-Accel-Redirect).',
    text('a path that begins and ends with /, such as /giving-files/', /^\/([\w.-]+\/)+$/),
  ),
  MAX_CONNECTIONS: variable(
    'Most connections to one API process at a time; fewer where the limit of open files (ulimit -n) is lower.',
    wholeNumberIn(1, 100_000),
    '2000',
  ),
  MAX_CONNECTIONS_PER_ADDRESS: variable(
    'Most connections and downloads of one address at a time; connections of trusted proxies are not counted.',
    wholeNumberIn(1, 100_000),
    '128',
  ),
  DATABASE_URL: secret(
    'databaseUrl',
    'PostgreSQL 15 or newer, UTF8; unset: the service runs its own PostgreSQL in the data directory.',
    databaseUrl,
  ),
  DATABASE_DIRECT_URL: secret(
    'databaseDirectUrl',
    'The same database past a pooler, for what needs a session: the queue in PostgreSQL and migrations; unset: DATABASE_URL.',
    databaseUrl,
  ),
  DATABASE_POOLING: variable(
    'How a pooler in DATABASE_URL shares its servers: after each session or each transaction; unset: transaction, where a pooler is found.',
    wordOf('session', 'transaction'),
  ),
  DATABASE_READ_URL: secret(
    'databaseReadUrl',
    'Standbys of the same database, which the API reads from: user@a,b/database; unset: it reads from DATABASE_URL.',
    databaseUrl,
  ),
  READ_MAX_LAG_SECONDS: variable(
    'A standby of DATABASE_READ_URL that is further behind than this is not read from.',
    wholeNumberIn(1, 3600),
    '5',
  ),
  DATABASE_POOL_SIZE: variable(
    'Most database connections of one process, without those of the queue; at least 4: 3 counts as 4.',
    wholeNumberIn(3, 200),
    '10',
  ),
  REDIS_URL: secret('redisUrl', 'Redis 6.2 or newer for the queue; unset: the queue lives in PostgreSQL.', redisUrl),
  REDIS_CA_FILE: variable(
    'Certificates (PEM) of the authorities that a Redis with TLS is checked by; unset: those of Node.js.',
    text('a file'),
  ),
  GIVING_DATA_DIR: variable('Folder for published files and the embedded database.', text('a folder'), './data'),
  PUBLISH_SCHEDULE: variable('When publications run, as a cron expression in PUBLISH_TIMEZONE.', cron, '0 2 * * *'),
  PUBLISH_TIMEZONE: variable("Time zone of PUBLISH_SCHEDULE and the sources' schedules.", timezone, 'UTC'),
  PUBLISH_KEEP_RELEASES: variable(
    'How many releases stay readable, the live one included.',
    wholeNumberIn(3, 1000),
    '3',
  ),
  PUBLISH_MAX_LOSS_PERCENT: variable(
    'A release that would lose more of the activities or of the money than this is held.',
    wholeNumberIn(0, 100),
    '5',
  ),
  BACKUP_DIR: variable(
    'Folder into which the store is backed up once a day (docs/how-to/backup.md); unset: no backups.',
    text('a folder'),
  ),
  BACKUP_KEEP: variable('How many backups stay in BACKUP_DIR, the newest ones.', wholeNumberIn(1, 1000), '7'),
  IATI_STANDARD_DIR: variable(
    'Folder with the official IATI 2.03 files (schemas/*.xsd); when present activities are also checked by the XSD.',
    text('a folder'),
  ),
  REPORTING_ORG_REF: variable(
    'IATI identifier of the publisher, exactly as registered; required except with demo data; XE-EXAMPLE- and a name: a trial.',
    text('an organisation identifier such as US-EIN-123456789', /^[A-Za-z0-9._-]{3,100}$/),
  ),
  REPORTING_ORG_NAME: variable('Name of the publisher.', text('a name'), 'Giving Platform'),
  PUBLISHER_EMAIL: variable(
    'E-mail address for enquiries about what is published, in activities and the catalogue of data; unset: none is stated.',
    text('an e-mail address', /^[^\s<>@,]+@[^\s<>@,]+$/),
  ),
  PUBLISHER_URL: variable(
    "The publisher's own page for enquiries, for activities without a page of their own and the catalogue of data; unset: none.",
    url('http:', 'https:'),
  ),
  LICENCE_ID: variable(
    'Licence of the open data, by its id in the IATI registry; unset: none is stated.',
    wordOf(...licenceIds),
  ),
  REGISTRY_URL: variable(
    'API of the IATI registry, up to and including /api/v1, where the published files are registered (docs/how-to/register.md); unset: none.',
    encryptedUrl,
  ),
  REGISTRY_TOKEN_URL: variable(
    'Where REGISTRY_CLIENT_ID gets its tokens.',
    encryptedUrl,
    'https://api.eu.asgardeo.io/t/iati/oauth2/token',
  ),
  REGISTRY_CLIENT_ID: variable(
    'Client of the IATI identity service that registers; with REGISTRY_URL either a client or a token is required.',
    text('a client id', /^\S+$/),
  ),
  REGISTRY_CLIENT_SECRET: secret('registryClientSecret', 'Secret of REGISTRY_CLIENT_ID.', text('a secret', /^\S+$/)),
  REGISTRY_TOKEN: secret(
    'registryToken',
    'Token in place of a client; its file is read again for each call, so that others can renew it.',
    text('a token', /^\S+$/),
  ),
  REGISTRY_SYNC: variable('Whether a worker registers new activity files.', valueTypes.truth, 'false'),
  REGISTRY_VISIBILITY: variable(
    'Whether datasets are registered as public or private.',
    wordOf('public', 'private'),
    'public',
  ),
  REGISTRY_DATASET_PREFIX: variable(
    'What the short names of datasets begin with; unset: the short name of the publisher in the registry.',
    text('small letters, digits, - and _', /^[a-z0-9_-]{1,80}$/),
  ),
  SIGNING_KEY: secret(
    'signingKey',
    'Key that releases are signed with, as giving keys signing create writes it; unset: releases are not signed.',
    readableBy(parseSigningKey),
  ),
  FEEDS_S3_BUCKET: variable(
    'Bucket that each release is delivered to as well (docs/how-to/bucket.md); unset: none.',
    text('the name of a bucket', /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/),
  ),
  FEEDS_S3_ENDPOINT: variable(
    'Address of the service that the bucket is at, such as https://s3.example.org; unset: Amazon S3.',
    baseUrl,
  ),
  FEEDS_S3_REGION: variable('Region of the bucket.', text('a region', /^[a-z0-9-]{1,40}$/), 'us-east-1'),
  FEEDS_S3_ACCESS_KEY_ID: variable(
    'Id of the key that the bucket is written with; unset: found as the AWS SDK finds it (role of the machine, profile).',
    text('the id of a key', /^\S+$/),
  ),
  FEEDS_S3_SECRET_ACCESS_KEY: secret(
    'bucketSecretKey',
    'Secret of FEEDS_S3_ACCESS_KEY_ID; required with it.',
    text('a key', /^\S+$/),
  ),
  FEEDS_S3_IS_FOLDER: variable(
    'on: machines share releases through the bucket and not through a folder, each with its own copy (docs/how-to/bucket.md).',
    wordOf('on', 'off'),
    'off',
  ),
  WEBSUB_HUB: variable(
    'Address of a WebSub hub that the Atom feeds name, and that is told which of them changed (docs/reference/data.md); unset: none.',
    url('http:', 'https:'),
  ),
  REPORTING_ORG_TYPE: variable(
    'Type of the publisher, a code of the IATI OrganisationType list.',
    text('two digits', /^[0-9]{2}$/),
    '21',
  ),
  ASSUMED_DONORS: variable(
    'What the giving public is called in activities; {publisher} is REPORTING_ORG_NAME.',
    text('a name without line breaks', /^[^\p{Cc}\s](?:[^\p{Cc}]*[^\p{Cc}\s])?$/u),
    'Individual donors through {publisher}',
  ),
  ASSUMED_PARTNER_TYPE: variable(
    'Type (IATI OrganisationType list) of a partner from outside the countries of its project, where no record states one.',
    text('a code of the list, such as 21 or 22', /^(?:1[015]|2[1-4]|30|40|60|7[0-3]|80|90)$/),
    '22',
  ),
  ASSUMED_DOCUMENT_CATEGORY: variable(
    "Category (IATI DocumentCategory list) of a project's further document (additionalDocumentation).",
    text('a code of an activity, A01 to A12', /^A(?:0[1-9]|1[0-2])$/),
    'A02',
  ),
  ASSUMED_CODES: variable(
    'Codes for what no record states (giving facts lists it), as name=code; none leaves the element out.',
    codesByName,
  ),
  FACTS_CONFIRMED: variable(
    'yes: a person has read giving facts before the first release of a real publisher; for scripts, instead of giving facts --confirm.',
    wordOf('yes'),
  ),
  DEFAULT_CURRENCY: variable('Currency of the platform (ISO 4217).', currency, 'USD'),
  DEFAULT_LANGUAGE: variable(
    'Language of texts in the store (ISO 639-1).',
    text('two small letters', /^[a-z]{2}$/),
    'en',
  ),
  PORTAL_LOGO: variable(
    'Picture before the name on each page (SVG, PNG, JPEG or WebP of at most 200 kB; docs/how-to/brand.md); unset: none.',
    text('a file'),
  ),
  PORTAL_COLOURS: variable(
    'Two colours of the pages, of the head and of links, such as #0b4648,#08565a; unset: these.',
    { expected: expectedBrandColours, parse: parseBrandColours },
  ),
  PORTAL_WORDS_DIR: variable(
    'Folder with words of your own, en.json and so on (docs/how-to/brand.md); unset: the built-in ones.',
    text('a folder'),
  ),
  PORTAL: variable('Pages for people: on; off: only the page for developers.', wordOf('on', 'off'), 'on'),
  PROJECT_LINK_TEMPLATE: variable(
    'Where people give to a project or read more, with {id} for its number; unset: the page that its record names.',
    text('an address that begins with https:// or http:// and has {id}', /^https?:\/\/[^\s<>"]*\{id\}[^\s<>"]*$/),
  ),
  TOKEN_TIMEOUT_HOURS: variable('Hours that access tokens of new accounts live.', wholeNumberIn(1, 8760), '10'),
  TOKEN_IDLE_MINUTES: variable(
    'Minutes without a request after which an access token ends; unset: it ends with its lifetime only.',
    wholeNumberIn(15, 1440),
  ),
  REGISTRATION: variable(
    'Who may make an account: open (everybody), invite (giving users invite) or closed (the operator); unset: closed with REPORTING_ORG_REF, otherwise open.',
    wordOf('open', 'invite', 'closed'),
  ),
  WORKER_PROCESSES: variable(
    'Processes of giving worker, which share the work; unset: half the cores, from 1 to 4.',
    wholeNumberIn(1, 64),
  ),
  QUEUE_LOCK_SECONDS: variable(
    'After how many seconds without a sign of life a worker counts as dead.',
    wholeNumberIn(2, 600),
    '10',
  ),
  SHUTDOWN_SECONDS: variable(
    'How many seconds a running job may take to finish after SIGTERM.',
    wholeNumberIn(1, 600),
    '8',
  ),
  SHUTDOWN_DRAIN_SECONDS: variable(
    'How many seconds an API goes on answering after SIGTERM, with 503 on /readyz; unset: 3 for giving api, 0 for giving start.',
    wholeNumberIn(0, 600),
  ),
  UPSTREAM_URL: variable(
    'Platform whose catalogue is mirrored: its address up to, not including, /api; unset: nothing is mirrored.',
    baseUrl,
  ),
  UPSTREAM_API_KEY: secret(
    'upstreamApiKey',
    'API key at the mirrored platform; required with UPSTREAM_URL.',
    text('an API key', /^\S+$/),
  ),
  UPSTREAM_HOSTS: variable(
    'Hosts beside that of UPSTREAM_URL that its data and redirects may lead to, separated by commas; unset: any public one.',
    hosts,
  ),
  UPSTREAM_CONCURRENCY: variable('Most requests to the mirrored platform at a time.', wholeNumberIn(1, 64), '4'),
  UPSTREAM_RATE: variable('Most requests to the mirrored platform in a second.', wholeNumberIn(1, 10_000), '5'),
  SYNC_SCHEDULE: variable(
    'When changes of the mirrored platform are fetched, as a cron expression in UTC.',
    cron,
    '17 * * * *',
  ),
  FULL_SYNC_SCHEDULE: variable(
    'When the whole catalogue of the mirrored platform is compared, as a cron expression in UTC.',
    cron,
    '43 3 * * 0',
  ),
  ALLOW_PRIVATE_NETWORKS: variable(
    'Whether addresses that come from data may lead into private, loopback or link-local networks.',
    valueTypes.truth,
    'false',
  ),
  PAYMENT_GATEWAY: variable(
    'Who charges donors: braintree or stripe (docs/reference/payments.md); or sandbox, which is part of this service and moves no money.',
    wordOf('sandbox', 'braintree', 'stripe'),
    'sandbox',
  ),
  PAYMENT_GATEWAY_URL: variable(
    "Address of a server that stands in for the processor, for trials; unset: the processor's own.",
    url('https:'),
  ),
  PAYMENT_GATEWAY_CA_FILE: variable(
    'Certificates (PEM) of the authorities that PAYMENT_GATEWAY_URL is checked by; unset: those of Node.js.',
    text('a file'),
  ),
  BRAINTREE_ENVIRONMENT: variable(
    'Which Braintree is asked: its sandbox, which moves no money, or production.',
    wordOf('sandbox', 'production'),
    'sandbox',
  ),
  BRAINTREE_MERCHANT_ID: variable(
    'Merchant id at Braintree; required with PAYMENT_GATEWAY=braintree, as are both keys and the accounts.',
    text('a merchant id', /^\w{1,64}$/),
  ),
  BRAINTREE_PUBLIC_KEY: variable('Public key of the Braintree API.', text('a key', /^\w{1,128}$/)),
  BRAINTREE_PRIVATE_KEY: secret('braintreePrivateKey', 'Private key of the Braintree API.', text('a key', /^\S+$/)),
  BRAINTREE_MERCHANT_ACCOUNTS: variable(
    'Merchant accounts at Braintree by currency, such as USD:giving_usd,EUR:giving_eur; one for DEFAULT_CURRENCY and for each other one of DONATION_LIMITS.',
    accountsByCurrency,
  ),
  BRAINTREE_3D_SECURE: variable(
    'Whether cards need 3-D Secure at Braintree; required: those without it are declined with 2099.',
    wordOf('optional', 'required'),
    'optional',
  ),
  STRIPE_SECRET_KEY: secret(
    'stripeSecretKey',
    'Secret key of the Stripe API; required with PAYMENT_GATEWAY=stripe; one that begins with sk_test_ moves no money.',
    text('a key such as sk_live_... or rk_live_...', /^[sr]k_(live|test)_\w+$/),
  ),
  STRIPE_PUBLISHABLE_KEY: variable(
    'Key that pages make payment methods with at Stripe; required with PAYMENT_GATEWAY=stripe, of the same mode.',
    text('a key such as pk_live_...', /^pk_(live|test)_\w+$/),
  ),
  STRIPE_WEBHOOK_SECRET: secret(
    'webhookSecret',
    'Secret that the webhooks of Stripe are signed with; unset: none are received (docs/how-to/processor.md).',
    text('a secret such as whsec_...', /^whsec_\S+$/),
  ),
  PAYMENT_TIMEOUT_SECONDS: variable(
    'How many seconds the payment gateway may take to answer.',
    wholeNumberIn(1, 60),
    '10',
  ),
  DONATION_LIMITS: variable(
    'Smallest and largest donation by currency, such as USD:5-50000,EUR:4.50- (docs/how-to/currencies.md). A processor takes these currencies and DEFAULT_CURRENCY, whose smallest is 10 unless named here.',
    limitsByCurrency,
  ),
  PLATFORM_FEE_PERCENT: variable("The platform's share of each donation in percent, recorded as a fee.", percent, '0'),
  DONOR_KEYS: secret(
    'donorKeys',
    "Keys that donors' data is encrypted with, as ID:SECRET separated by commas; the first encrypts; required to take donations except with demo data (docs/how-to/donors.md).",
    readableBy(parseDonorKeys),
  ),
  DONOR_RETENTION_DAYS: variable(
    'After how many days what is known of a donor is erased; unset: never.',
    wholeNumberIn(1, 36_500),
  ),
  SMTP_URL: secret(
    'smtpUrl',
    'Mail server for receipts, codes of accounts and reports to readers, such as smtps://user:password@mail.example.org; unset: no mail is sent (docs/how-to/receipts.md, docs/reference/accounts.md).',
    url('smtp:', 'smtps:'),
  ),
  MAIL_FROM: variable(
    'Sender of mail, such as Our platform <receipts@example.org>; required with SMTP_URL.',
    text(
      'an e-mail address, or a name with an address in angle brackets',
      /^(?:[^<>@\r\n]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/,
    ),
  ),
  MAIL_TEMPLATES_DIR: variable(
    'Folder with templates of mail of your own, receipt.en.txt and so on (docs/how-to/receipts.md); unset: the built-in ones.',
    text('a folder'),
  ),
  OPS_HOST: variable(
    'Address the console of giving start and giving api listens on.',
    text('a host name or address', /^[\w.:-]+$/),
    '127.0.0.1',
  ),
  OPS_PORT: variable(
    'Port of the console, which has /metrics too; 0 picks a free one; unset: 8081, or a free one where that is taken.',
    wholeNumberIn(0, 65_535),
  ),
  OPS_TOKEN: secret(
    'opsTokens',
    'Who may use the console, as NAME:TOKEN, NAME+import:TOKEN to import files, or NAME+donors:TOKEN to see donors, separated by commas; required where OPS_HOST is not of this machine alone (docs/how-to/console.md).',
    readableBy(parseOperatorTokens),
  ),
  OPS_REFUND_LIMIT: variable(
    'The most that may go back to donors in a UTC day, in DEFAULT_CURRENCY, where the console gives back; unset: it gives nothing back.',
    refundLimit,
  ),
  METRICS_ON_API: variable(
    'Whether /metrics is also on the port of the API; goes away with version 2.',
    valueTypes.truth,
    'false',
  ),
  METRICS_PORT: variable(
    'Port of a worker process for /metrics and /healthz, on HOST; unset: none. The API process has them on OPS_PORT.',
    wholeNumberIn(0, 65_535),
  ),
  ALERT_WEBHOOK_URL: variable(
    'Address that gets alarms as signed JSON (docs/how-to/watch.md); unset: none.',
    url('http:', 'https:'),
  ),
  ALERT_WEBHOOK_SECRET: secret(
    'alertWebhookSecret',
    'Secret that alarms to ALERT_WEBHOOK_URL are signed with; required with it.',
    text('at least 16 characters without spaces', /^\S{16,}$/),
  ),
  ALERT_MAIL_TO: variable(
    'E-mail address that gets alarms; needs SMTP_URL; unset: none.',
    text('an e-mail address', /^[^\s<>@,]+@[^\s<>@,]+$/),
  ),
  LOG_LEVEL: variable(
    'Least severe level of log lines that are written; unset: warn in a terminal, otherwise info.',
    wordOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
  ),
  LOG_FORMAT: variable(
    'Form of the log: text for people, json for machines; auto: text in a terminal, otherwise json.',
    wordOf('auto', 'text', 'json'),
    'auto',
  ),
} as const

export type VariableName = keyof typeof variables

/** What the text of a variable is read as; without a default it may be absent. */
export type ValueOf<Name extends VariableName> =
  (typeof variables)[Name] extends Variable<infer T, infer Fallback>
    ? T | (Fallback extends string ? never : undefined)
    : never

export type SecretName = NonNullable<(typeof variables)[VariableName]['secret']>
