import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { ServiceError } from '../../../../src/kernel/errors.js'
import { type ConfigField, type Environment, readConfig } from '../../../../src/platform/config/config.js'
import { temporaryFolder } from '../../../support/values/temporary-folder.js'

const defaults = readConfig({})

describe('an empty environment', () => {
  it('means one process with its own database and queue', () => {
    expect(defaults).toMatchObject({
      port: 8080,
      host: '127.0.0.1',
      baseUrl: undefined,
      dataDir: path.resolve('data'),
      database: { kind: 'embedded' },
      queue: { engine: 'postgres' },
      publish: { schedule: '0 2 * * *', timezone: 'UTC', keepReleases: 3, maxLossPercent: 5 },
      reportingOrg: { ref: undefined },
      currency: 'USD',
      language: 'en',
    })
  })

  it('gives a worker half the cores, from 1 to 4', () => {
    expect(defaults.workerProcesses).toBe([1, 1, 1, 1, 2, 2, 3, 3][availableParallelism()] ?? 4)
    expect(readConfig({ WORKER_PROCESSES: '9' }).workerProcesses).toBe(9)
  })

  it.each(['', '   '])('is the same as variables set to %j', (text) => {
    const names = ['PORT', 'BASE_URL', 'DATABASE_URL', 'REDIS_URL', 'PUBLISH_SCHEDULE', 'REPORTING_ORG_REF']
    const config = readConfig(Object.fromEntries(names.map((name) => [name, text])))
    expect(config).toEqual(defaults)
    expect(config.secrets.databaseUrl).toBeUndefined()
    expect(config.secrets.redisUrl).toBeUndefined()
  })
})

describe('a wrong environment', () => {
  it('is refused with all its problems in one message, each with name, expectation and value', () => {
    const error = refusal({ PORT: '80a', DEFAULT_CURRENCY: 'usd', PUBLISH_TIMEZONE: 'Mars/Olympus', LOG_LEVEL: 'loud' })
    expect(error.code).toBe('configuration-invalid')
    expect(error.message).toBe(
      'the configuration is wrong: ' +
        'PORT: expected a whole number from 0 to 65535, got "80a"; ' +
        'PUBLISH_TIMEZONE: expected an IANA time zone such as UTC or Europe/Dublin, got "Mars/Olympus"; ' +
        'DEFAULT_CURRENCY: expected an ISO 4217 code of three capitals, got "usd"; ' +
        'LOG_LEVEL: expected one of trace, debug, info, warn, error, fatal, silent, got "loud"',
    )
    expect(error.problems.map(({ field }) => field)).toEqual([
      'PORT',
      'PUBLISH_TIMEZONE',
      'DEFAULT_CURRENCY',
      'LOG_LEVEL',
    ])
  })
})

describe('a password in an address', () => {
  const given = {
    DATABASE_URL: 'postgres://giving:hunter2@db.example/giving',
    REDIS_URL: 'rediss://default:hunter2@cache.example:6380/1',
  }

  it('is kept apart from the configuration', () => {
    const config = readConfig(given)
    expect(config.secrets.databaseUrl).toBe(given.DATABASE_URL)
    expect(config.secrets.redisUrl).toBe(given.REDIS_URL)
    expect(config.database).toEqual({ kind: 'given' })
    expect(config.queue.engine).toBe('redis')
    expect(inspect(config, { depth: null })).not.toContain('hunter2')
  })

  it('is never printed', () => {
    const { secrets } = readConfig(given)
    const everywhere = { secrets, list: [secrets] }
    const printed = [
      inspect(secrets),
      inspect(everywhere, { depth: null, showHidden: true }),
      JSON.stringify(everywhere),
      `${secrets}`,
    ]
    for (const text of printed) expect(text).not.toContain('hunter2')
    expect(JSON.stringify(secrets)).toBe('"[redacted]"')
  })

  it('is not in the message that refuses the address', () => {
    const error = refusal({ DATABASE_URL: 'mysql://giving:hunter2@db.example/giving', REDIS_URL: 'hunter2' })
    expect(error.message).toContain(
      'DATABASE_URL: expected an address such as postgres://user@host/database, or postgres://user@a,b/database?target_session_attrs=read-write, got "[redacted]"',
    )
    expect(inspect(error, { depth: null, showHidden: true })).not.toContain('hunter2')
  })
})

describe('a secret in a file', async () => {
  const folder = await temporaryFolder()
  const fileOf = (text: string) => {
    const file = path.join(folder, 'secret')
    writeFileSync(file, text)
    return file
  }

  it('is read from where NAME_FILE points, without the line end', () => {
    const config = readConfig({ DATABASE_URL_FILE: fileOf('postgres://giving:hunter2@db/giving\n') })
    expect(config.secrets.databaseUrl).toBe('postgres://giving:hunter2@db/giving')
    expect(config.database).toEqual({ kind: 'given' })
  })

  it('counts where a variable is needed', () => {
    const upstream = { UPSTREAM_URL: 'https://upstream.example', REPORTING_ORG_REF: 'US-EIN-123456789' }
    const config = readConfig({ ...upstream, UPSTREAM_API_KEY_FILE: fileOf('key-1') })
    expect(config.secrets.upstreamApiKey).toBe('key-1')
  })

  it('names hosts without port where an upstream is mirrored', () => {
    const upstream = { UPSTREAM_URL: 'https://upstream.example', REPORTING_ORG_REF: 'US-EIN-123456789' }
    const hostsOf = (UPSTREAM_HOSTS: string) => ({ ...upstream, UPSTREAM_API_KEY: 'key', UPSTREAM_HOSTS })
    expect(readConfig(hostsOf('Files.example.org, [::1],192.0.2.7')).upstream?.hosts).toEqual([
      ...['files.example.org', '[::1]', '192.0.2.7'],
    ])
    for (const wrong of ['https://files.example.org', 'files.example.org:8080', 'a b', 'a,,b', 'a/b']) {
      expect(refusal(hostsOf(wrong)).problems, wrong).toMatchObject([{ field: 'UPSTREAM_HOSTS' }])
    }
  })

  it('is refused when the file is missing or empty, or the variable is set too, without its text', () => {
    expect(refusal({ REDIS_URL_FILE: path.join(folder, 'none') }).problems).toMatchObject([{ field: 'REDIS_URL_FILE' }])
    expect(refusal({ REDIS_URL_FILE: fileOf(' \n') }).problems).toMatchObject([{ field: 'REDIS_URL_FILE' }])
    const both = refusal({ REDIS_URL_FILE: fileOf('redis://hunter2'), REDIS_URL: 'redis://h' })
    expect(both.message).toContain('REDIS_URL_FILE: expected nothing, since REDIS_URL is set')
    expect(refusal({ REDIS_URL_FILE: fileOf('hunter2') }).message).not.toContain('hunter2')
  })

  it('is for secrets only', () => {
    expect(readConfig({ PORT_FILE: fileOf('9000') }).port).toBe(8080)
  })
})

describe('a variable', () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ['PORT', ['0', '8080', '65535'], ['-1', '65536', '8080.0', '1e3', '0x50', '8 080', '８０']],
    ['HOST', ['127.0.0.1', '::1', '0.0.0.0', 'api.example.org'], ['a host', 'http://api.example.org']],
    [
      'BASE_URL',
      ['https://give.example.org', 'http://localhost:8080/base'],
      ['give.example.org', 'ftp://give.example.org', 'https://give.example.org/?a=1', 'https://give.example.org/#top'],
    ],
    [
      'TRUST_PROXY',
      ['true', 'false', '1', '9', '127.0.0.1', '10.0.0.0/8, ::1', 'loopback,fd00::/8'],
      ['yes', '0', '10', '10.0.0.0/33', 'proxy.example.org', '10.0.0.1,,', '::/129', ','],
    ],
    ['RATE_LIMIT_PER_MINUTE', ['0', '100'], ['-1', '1e3', '1000001', 'none']],
    ['DATABASE_URL', ['postgres://h/d', 'postgresql://u:p@h:5432/d?sslmode=require'], ['h:5432/d', 'redis://h']],
    ['DATABASE_POOL_SIZE', ['3', '200'], ['2', '201', 'many']],
    [
      'REDIS_URL',
      [
        'redis://h',
        'rediss://u:p@h:6380/2',
        'rediss+sentinel://u:p%40@a,b:1/one/2?sentinelPassword=s',
        'redis+cluster://:p@a,b:1',
      ],
      [
        'h:6379',
        'http://h',
        'redis+sentinel://a,b',
        'redis+sentinel://a,,b/one',
        'redis+sentinel://a/one?db=1',
        'redis+cluster://a/0',
      ],
    ],
    [
      'PUBLISH_SCHEDULE',
      ['0 2 * * *', '*/5 * * * *', '30 0 2 * * *', '0 2 * * 1-5', '0 2 1 jan,jul *'],
      ['0 2 * *', '0 0 2 * * * *', '60 2 * * *', '0 25 * * *', '@daily', 'at night'],
    ],
    ['PUBLISH_TIMEZONE', ['UTC', 'Europe/Dublin', 'America/New_York'], ['Dublin', 'UTC+25']],
    ['PUBLISH_KEEP_RELEASES', ['3', '1000'], ['2', '0', '1001']],
    ['PUBLISH_MAX_LOSS_PERCENT', ['0', '5', '100'], ['101', '5%', '-5', '2.5']],
    ['REPORTING_ORG_REF', ['US-EIN-123456789', 'GB-CHC-1234_5.6'], ['US EIN 1', 'US/EIN/1', 'X']],
    ['REPORTING_ORG_TYPE', ['21', '10'], ['2', '210', 'NGO']],
    ['ASSUMED_DONORS', ['Donors', '{publisher} et ses donateurs', 'É'], ['two\nlines', 'a\u0000b']],
    ['ASSUMED_PARTNER_TYPE', ['10', '15', '22', '24', '73', '90'], ['2', '12', '25', '99', '220', 'NGO']],
    ['ASSUMED_DOCUMENT_CATEGORY', ['A01', 'A02', 'A12'], ['A00', 'A13', 'B01', 'a02', 'A2']],
    ['DEFAULT_CURRENCY', ['EUR'], ['eur', 'EURO', '€']],
    ['DEFAULT_LANGUAGE', ['fr'], ['FR', 'fra', 'fr-FR']],
    ['TOKEN_TIMEOUT_HOURS', ['1', '8760'], ['0', '8761', '10h']],
    ['TOKEN_IDLE_MINUTES', ['15', '1440'], ['14', '1441', '15m']],
    ['QUEUE_LOCK_SECONDS', ['2', '600'], ['1', '601']],
    ['SHUTDOWN_SECONDS', ['1', '600'], ['0', '601']],
    ['SMTP_URL', [], ['mail.example.org', 'http://mail.example.org']],
    ['OPS_HOST', ['127.0.0.1', '127.8.0.1', '::1', 'localhost'], ['a host']],
    [
      'OPS_TOKEN',
      ['ana:0123456789abcdef', 'ana:0123456789abcdef, ben:0123456789abcdef:x'],
      [
        '0123456789abcdef',
        'ana:0123456789abcde',
        'ana:0123456789abcdef,ana:0123456789abcdeg',
        'a b:0123456789abcdef',
        ',',
      ],
    ],
    ['LOG_LEVEL', ['trace', 'silent'], ['INFO', 'verbose', 'toString']],
  ])('%s takes %j and refuses %j', (name, good, bad) => {
    for (const text of good) expect(() => readConfig({ [name]: text }), text).not.toThrow()
    for (const text of bad) expect(refusal({ [name]: text }).problems, text).toMatchObject([{ field: name }])
  })

  it.each(['0.0.0.0', '::', '10.0.0.5', 'ops.example.org', '127.example.org'])(
    'OPS_HOST %s needs OPS_TOKEN',
    (OPS_HOST) => {
      expect(refusal({ OPS_HOST }).problems).toMatchObject([{ field: 'OPS_TOKEN', got: 'nothing' }])
      const config = readConfig({ OPS_HOST, OPS_TOKEN: 'ana:0123456789abcdef' })
      expect([config.ops.host, config.secrets.opsTokens]).toEqual([OPS_HOST, 'ana:0123456789abcdef'])
    },
  )

  it('is read without the spaces around it', () => {
    expect(readConfig({ PORT: ' 9000 ', DEFAULT_CURRENCY: 'EUR\n' })).toMatchObject({
      port: 9000,
      currency: 'EUR',
    })
  })

  it('says what is wrong with a schedule', () => {
    expect(refusal({ PUBLISH_SCHEDULE: '0 2 * *' }).message).toContain('five or six fields (it has 4 fields)')
  })

  it.each(['https://give.example.org/', 'https://give.example.org///'])('BASE_URL %s loses its slash', (text) => {
    expect(readConfig({ BASE_URL: text }).baseUrl).toBe('https://give.example.org')
  })

  it.each(['GIVING_DATA_DIR', 'IATI_STANDARD_DIR'])('%s becomes an absolute path', (name) => {
    const { dataDir, standardDir } = readConfig({ [name]: 'some/where' })
    expect([dataDir, standardDir]).toContain(path.resolve('some/where'))
  })
})

describe('a field of the configuration', () => {
  const mirroring = { UPSTREAM_URL: 'https://upstream.example', PORT: 'eighty' }

  it('asks for its own variables and for no others', () => {
    const config = readConfig(mirroring, ['currency'])
    expect([config.currency, config.upstreamUrl]).toEqual(['USD', 'https://upstream.example'])
    expect(() => config.port).toThrow('PORT: expected a whole number')
    expect(() => config.port).toThrow('PORT: expected a whole number')
    expect(refusal(mirroring, ['upstream', 'port']).problems.map(({ field }) => field)).toEqual([
      'PORT',
      'UPSTREAM_API_KEY',
      'REPORTING_ORG_REF',
    ])
  })

  it('reads a secret when it is used, and no other', () => {
    const given = { DATABASE_URL_FILE: '/nowhere', REDIS_URL: 'redis://cache.example', SMTP_URL: 'smtp://mail.example' }
    const { secrets } = readConfig(given, ['queue'])
    expect([secrets.redisUrl, secrets.smtpUrl]).toEqual(['redis://cache.example', 'smtp://mail.example'])
    expect(() => secrets.databaseUrl).toThrow('DATABASE_URL_FILE: expected a file that can be read')
  })
})

describe('Braintree', () => {
  const given = {
    ...{ PAYMENT_GATEWAY: 'braintree', BRAINTREE_MERCHANT_ID: 'm1', BRAINTREE_PUBLIC_KEY: 'p1' },
    ...{ BRAINTREE_PRIVATE_KEY: 'hunter2', BRAINTREE_MERCHANT_ACCOUNTS: 'EUR:giving_eur, USD:giving_usd' },
  }

  it('is charged in the account of the currency of the platform', () => {
    const config = readConfig({ ...given, PAYMENT_GATEWAY_URL: 'https://127.0.0.1:8443' }, ['payments'])
    expect(config.payments).toMatchObject({
      braintree: {
        environment: 'sandbox',
        merchantId: 'm1',
        publicKey: 'p1',
        merchantAccount: 'giving_usd',
        otherAccounts: { EUR: 'giving_eur' },
      },
      address: { host: '127.0.0.1', port: '8443', caFile: undefined },
    })
    expect(config.secrets.braintreePrivateKey).toBe('hunter2')
    expect(inspect(config)).not.toContain('hunter2')
  })

  it('needs its keys and an account for that currency, and names all that is missing', () => {
    expect(refusal({ PAYMENT_GATEWAY: 'braintree' }).problems.map(({ field }) => field)).toEqual([
      ...['BRAINTREE_MERCHANT_ID', 'BRAINTREE_PUBLIC_KEY', 'BRAINTREE_PRIVATE_KEY', 'BRAINTREE_MERCHANT_ACCOUNTS'],
    ])
    const { problems } = refusal({ ...given, DEFAULT_CURRENCY: 'GBP' })
    expect(problems).toMatchObject([{ field: 'BRAINTREE_MERCHANT_ACCOUNTS', got: 'EUR, USD' }])
    expect(refusal({ ...given, DONATION_LIMITS: 'EUR:4.50-,JPY:500-' }).problems).toEqual([
      {
        field: 'BRAINTREE_MERCHANT_ACCOUNTS',
        expected: "an account for JPY: the platform's currency and those of DONATION_LIMITS need one",
        got: 'EUR, USD',
      },
    ])
    expect(refusal({ ...given, PAYMENT_GATEWAY_URL: 'http://127.0.0.1' }).problems).toHaveLength(1)
  })

  it('is not needed by Stripe, whose keys are of one mode', () => {
    const stripe = { PAYMENT_GATEWAY: 'stripe', STRIPE_SECRET_KEY: 'sk_test_1', STRIPE_PUBLISHABLE_KEY: 'pk_test_1' }
    const config = readConfig(stripe, ['payments'])
    expect(config.payments).toMatchObject({ gateway: 'stripe', stripe: { publishableKey: 'pk_test_1' } })
    expect(config.secrets.stripeSecretKey).toBe('sk_test_1')
    const { problems } = refusal({ ...stripe, STRIPE_SECRET_KEY: 'sk_live_1' })
    expect(problems).toMatchObject([{ field: 'STRIPE_PUBLISHABLE_KEY', got: 'pk_test_' }])
    expect(refusal({ PAYMENT_GATEWAY: 'stripe' }).problems).toHaveLength(2)
  })

  it('needs nothing while it is not the gateway', () => {
    expect(readConfig({ BRAINTREE_MERCHANT_ACCOUNTS: 'nonsense' }, ['payments']).payments.gateway).toBe('sandbox')
  })
})

describe('mail', () => {
  it('has limits of donations by currency', () => {
    const limitsOf = (text: string) => readConfig({ DONATION_LIMITS: text }, ['payments']).payments.limits
    expect(limitsOf('')).toEqual({})
    expect(limitsOf('USD:5-50000, EUR:4.50-,JPY:500-500')).toEqual({
      ...{ USD: { least: '5', most: '50000' }, EUR: { least: '4.50', most: undefined } },
      JPY: { least: '500', most: '500' },
    })
    for (const bad of ['5-10', 'USD:5', 'USD:-5', 'USD:0-5', 'USD:10-5', 'USD:5-10,USD:6-', 'USD:5-10,', 'usd:5-']) {
      expect(() => limitsOf(bad), bad).toThrow('DONATION_LIMITS')
    }
  })

  it('needs a sender', () => {
    expect(refusal({ SMTP_URL: 'smtp://u:hunter2@h' }).problems).toMatchObject([{ field: 'MAIL_FROM' }])
    const config = readConfig({ SMTP_URL: 'smtp://u:hunter2@h', MAIL_FROM: 'a@b.example' })
    expect(config.mail).toEqual({ from: 'a@b.example', templatesDir: undefined })
    expect([config.secrets.smtpUrl, `${config.secrets}`]).toEqual([
      'smtp://u:hunter2@h',
      expect.not.stringContaining('hunter2'),
    ])
    expect(defaults.mail).toBeUndefined()
    for (const from of ['a', 'Our platform', 'a@b.example, c@d.example', '<a@b.example>\nBcc: c@d.example']) {
      expect(refusal({ SMTP_URL: 'smtp://h', MAIL_FROM: from }).problems).toMatchObject([{ field: 'MAIL_FROM' }])
    }
    expect(() => readConfig({ SMTP_URL: 'smtp://h', MAIL_FROM: 'Our platform <a@b.example>' })).not.toThrow()
  })
})

describe('HTTPS', () => {
  it('needs a certificate and its key, whose paths become absolute', () => {
    const { tls } = readConfig({ TLS_CERT_FILE: 'cert.pem', TLS_KEY_FILE: '/keys/key.pem' })
    expect(tls).toEqual({ certFile: path.resolve('cert.pem'), keyFile: '/keys/key.pem' })
    expect(defaults.tls).toBeUndefined()
  })

  it.each([
    ['TLS_CERT_FILE', 'TLS_KEY_FILE'],
    ['TLS_KEY_FILE', 'TLS_CERT_FILE'],
  ])('is refused with %s alone, naming %s', (given, missing) => {
    expect(refusal({ [given]: 'one.pem' }).problems).toMatchObject([{ field: missing, got: 'nothing' }])
  })
})

describe('proxies', () => {
  it.each([
    ['false', false],
    ['true', true],
    ['2', 2],
    ['127.0.0.1, 10.0.0.0/8', '127.0.0.1,10.0.0.0/8'],
  ])('that are %s are %j', (text, trusted) => {
    expect(readConfig({ TRUST_PROXY: text }).trustProxy).toBe(trusted)
  })
})

describe('the configuration', () => {
  it('cannot be changed', () => {
    expect(Object.isFrozen(defaults)).toBe(true)
  })
})

function refusal(environment: Environment, fields?: readonly ConfigField[]): ServiceError {
  try {
    readConfig(environment, fields)
  } catch (error) {
    if (error instanceof ServiceError) return error
    throw error
  }
  throw new Error(`accepted: ${inspect(environment)}`)
}
