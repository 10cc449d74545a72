import type { Route } from './expensive-requests.js'

/** A request of a scanner. `sign` is a name that nothing but its payload has: where it comes back alive, it was obeyed. */
export type Attack = {
  readonly kind: string
  readonly sign: string
  readonly request: {
    readonly method: string
    readonly path: string
    readonly headers: Readonly<Record<string, string>>
    readonly body?: string
  }
}

type Random = () => number
type Payload = (random: Random, sign: string) => string

const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
const times = (random: Random, most: number) => 1 + Math.floor(random() * most)
const some = (random: Random, from: readonly string[], most: number, between = '') =>
  Array.from({ length: times(random, most) }, () => pick(random, from)).join(between)

/** Each kind is a grammar of its own: what tools send follows from it, and much that they do not. */
const payloads: Readonly<Record<string, Payload>> = {
  SQL: (random) =>
    pick(random, ["'", '"', ')', "')", '1', "1'", '\\', "%'", "1'))", '$$']) +
    pick(random, [' or ', ' and ', ' union all select ', '; ', '||', ' order by ', '/**/or/**/', '\n', ' having ']) +
    pick(random, ['1=1', 'null,null,null', 'pg_sleep(5)', 'drop table project', 'version()', '99', "'a'='a'", 'true']) +
    pick(random, ['--', '#', ';--', '/*', '', " and '1'='1", '\0', ')--']),
  paths: (random) =>
    some(random, ['../', '..\\', '..%2f', '%2e%2e/', '....//', '..%5c', '%252e%252e%252f', '..;/', '/', './'], 8) +
    pick(random, [
      'etc/passwd',
      'proc/self/environ',
      '.env',
      'windows/win.ini',
      '.git/config',
      'package.json',
      'PG_VERSION',
    ]) +
    pick(random, ['', '\0', '%00.xml', '?', '#', '.json', '/.']),
  markup: (random, sign) =>
    pick(random, ['', '">', "'>", '</script>', '</title>', '-->', ']]>', '</textarea>']) +
    pick(random, [`<${sign}>`, `<${sign} onload=alert(1)>`, `<${sign}/src=x>`, `<${sign}\n>`]) +
    pick(random, ['', '<!--', '<script>', '<![CDATA[', '&#x3c;script&#x3e;', '\u2028']),
  templates: (random, sign) =>
    pick(random, ['{{', '${', '<%=', '#{', '*{', '{%', '[[', '@(']) +
    pick(random, ['7*7', 'constructor.constructor("return process")()', 'self', sign, 'process.env', '__proto__.x']) +
    pick(random, ['}}', '}', '%>', '%}', ']]', ')']),
  commands: (random, sign) =>
    pick(random, [';', '|', '&&', '`', '$(', '\n', '||', '&']) +
    pick(random, ['id', 'cat /etc/passwd', 'sleep 5', `echo ${sign}`, 'ping -c 1 127.0.0.1', 'curl http://127.0.0.1']) +
    pick(random, ['', '`', ')', ';', '#', '|cat']),
  headers: (random, sign) =>
    pick(random, ['\r\n', '\n', '\r', '%0d%0a', '\u560d\u560a', '%E5%98%8D%E5%98%8A', '\0\r\n']) +
    pick(random, [`${sign}: 1`, `set-cookie: ${sign}=1`, 'content-length: 0\r\n\r\n', `location: //${sign}.example`]),
  redirects: (random, sign) =>
    pick(random, ['//', 'https://', '/\\', '\\\\', '///', 'https:', '/%09/', '//giving.example@', 'javascript:']) +
    pick(random, [
      `${sign}.example`,
      `${sign}.example/%2f..`,
      '127.0.0.1',
      '[::1]',
      '169.254.169.254/latest',
      'localhost:5432',
    ]),
  prototypes: (random, sign) =>
    pick(random, [
      '__proto__',
      'constructor',
      'prototype',
      'toString',
      'hasOwnProperty',
      '__defineGetter__',
      'valueOf',
    ]) + pick(random, ['', '.x', '[x]', `[${sign}]`, '.prototype.x', '[__proto__]']),
  numbers: (random) =>
    pick(random, ['', '-', '+', ' ', '0', '0x', '00']) +
    pick(random, [
      '0',
      '1',
      'NaN',
      'Infinity',
      '1e300',
      '9'.repeat(300),
      '9223372036854775808',
      '2147483648',
      '0.1',
      '1e-9',
    ]) +
    pick(random, ['', ' ', '.0', 'n', ',1', 'L', '\u0660']),
  texts: (random) =>
    some(
      random,
      [
        '\0',
        '\u202e',
        '\ufeff',
        '\ud800',
        '\u0000',
        '\u2028',
        'ﷺ',
        '🏳️‍🌈',
        '%',
        '%u0041',
        '\x1b[2J',
        '%c0%ae',
        'ß',
        'İ',
      ],
      12,
    ) + 'x'.repeat(times(random, 40)),
  lengths: (random) =>
    pick(random, ['x', '%', '(', '[', '"', 'a,', '/', '&', '=', '☃', '{"a":']).repeat(times(random, 3_000)),
  entities: (random, sign) =>
    `<?xml version="1.0"?><!DOCTYPE ${sign} [<!ENTITY ${pick(random, ['a', '% a'])} ` +
    pick(random, ['SYSTEM "file:///etc/passwd"', 'SYSTEM "http://127.0.0.1/"', '"&a;&a;"', 'PUBLIC "x" "x"']) +
    `>]><${pick(random, ['auth_request', 'donation', 'a', sign])}>&a;</a>`,
  queries: (random, sign) =>
    pick(random, [
      `{"$gt":""}`,
      `{"$where":"${sign}"}`,
      '[$ne]=1',
      '{"auth_request":{"user":{"email":{"$gt":""}}}}',
      `*)(uid=*))(|(uid=*`,
      `{"query":"{__schema{types{name}}}"}`,
      `rO0AB${sign}`,
      `O:8:"stdClass":0:{}`,
      `!!js/function ${sign}`,
    ]),
}

export const attackKinds: readonly string[] = Object.keys(payloads)

const queryNames = [
  ...['q', 'page', 'start', 'limit', 'filter', 'theme', 'country', 'sort', 'status', 'nextProjectId', 'projectIds'],
  ...['api_key', 'api_token', 'modifiedSince', 'url', 'next', 'redirect', 'file', 'id', 'callback', 'debug', '_method'],
]
const headerNames = [
  ...['accept', 'accept-language', 'user-agent', 'referer', 'cookie', 'authorization', 'origin', 'range'],
  ...[
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-proto',
    'x-original-url',
    'x-http-method-override',
    'forwarded',
  ],
  ...['if-none-match', 'if-modified-since', 'content-type', 'x-request-id', 'stripe-signature'],
]
const types = [
  ...['application/json', 'application/xml', 'text/xml', 'application/x-www-form-urlencoded', 'text/plain'],
  ...['multipart/form-data; boundary=x', 'application/yaml', 'application/json; charset=utf-7', ''],
]
const methods = ['GET', 'GET', 'GET', 'POST', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'] as const
const encoded = (text: string) => encodeURIComponent(text.replaceAll(/[\ud800-\udfff]/gu, '?'))
// What a client of HTTP refuses to send in an address or a header.
const sendable = (text: string) => text.replaceAll(/[^\x21-\x7e]/gu, (sign) => encoded(sign))
const inHeader = (text: string) => text.replaceAll(/[^\x20-\x7e]/g, '')

/** A request of any kind, with its payload anywhere in it. */
export function attackOn(routes: readonly Route[], apiKey: string, random: Random): Attack {
  const kind = pick(random, attackKinds)
  const sign = `zx${Math.floor(random() * 1e9).toString(36)}`
  const payload = () => payloads[kind]?.(random, sign) ?? ''
  const inAddress = () => (random() < 0.5 ? encoded(payload()) : sendable(payload()))
  const { method, pattern } = pick(random, routes)
  const isElsewhere = random() < 0.1
  const path = isElsewhere
    ? `/${inAddress()}`
    : pattern.replaceAll(/:\w+|\*/g, () =>
        random() < 0.5 ? inAddress() : pick(random, ['1', 'KE', 'edu', '9000001', 'x']),
      )
  const query = Array.from({ length: times(random, 4) - 1 }, () => `${pick(random, queryNames)}=${inAddress()}`)
  if (path.startsWith('/api/') && random() < 0.7) query.unshift(`api_key=${apiKey}`)
  const named = Array.from({ length: times(random, 3) - 1 }, () => [pick(random, headerNames), inHeader(payload())])
  const chosen = random() < 0.7 ? (method as (typeof methods)[number]) : pick(random, methods)
  const hasBody = !['GET', 'HEAD', 'OPTIONS'].includes(chosen)
  const body = () =>
    pick(random, [
      payload(),
      JSON.stringify({ auth_request: { user: { email: payload(), password: payload() }, api_key: payload() } }),
      JSON.stringify({ donation: { amount: payload(), project: { id: payload() }, [payload()]: payload() } }),
      `<auth_request><user><email>${payload()}</email></user></auth_request>`,
      `email=${encoded(payload())}&${sendable(payload())}`,
    ])
  return {
    ...{ kind, sign },
    request: {
      method: chosen,
      path: `${path.startsWith('/') ? '' : '/'}${path}${query.length > 0 ? `?${query.join('&')}` : ''}`,
      headers: { ...Object.fromEntries(named), ...(hasBody && { 'content-type': pick(random, types) }) },
      ...(hasBody && { body: body() }),
    },
  }
}
