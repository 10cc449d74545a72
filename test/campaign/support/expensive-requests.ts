import type { FastifyInstance } from 'fastify'
import { bodyLimit } from '../../../src/http/api/request-body.js'

/** A route of the table: `:name` and `*` stand for what a client writes there. */
export type Route = { readonly method: string; readonly pattern: string }

/** A request as it is sent. */
export type ExpensiveRequest = {
  readonly about: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** The whole table of routes, as the framework prints it; HEAD costs what GET costs. */
export function tableOfRoutes(app: FastifyInstance): Route[] {
  const routes: Route[] = []
  const above: string[] = []
  for (const line of app.printRoutes({ commonPrefix: false }).split('\n')) {
    const [, indent = '', part = '', methods = ''] = /^([│ ├└─]*)(.*) \(([A-Z, ]+)\)$/.exec(line) ?? []
    if (methods === '') continue
    const depth = indent.length / 4 - 1
    above.splice(depth)
    const pattern = above.join('') + part
    above.push(part)
    for (const method of ['GET', 'POST']) {
      if (methods.split(', ').includes(method)) routes.push({ method, pattern })
    }
  }
  return routes
}

const letters = 'abcdefghijklmnopqrstuvwxyz'
const range = (length: number) => Array.from({ length }, (_, index) => index)

/** Values that a client may write in a place of the path, by its name; what has no name here is 1. */
export type KnownValues = Readonly<Record<string, readonly string[]>>

// Texts that are long, deep or strange, for any place of a path or value of a query.
const strange = (turn: number): string[] => [
  'x'.repeat(1_500) + turn,
  encodeURIComponent('\u{1F4A7}'.repeat(120)) + turn,
  `${'a/'.repeat(700)}${turn}`,
  `${'%2e%2e%2f'.repeat(150)}${turn}`,
  `${'a-'.repeat(700)}${turn}`,
]

// A turn makes the request another one, so that nothing kept answers it.
const queries: Readonly<Record<string, (turn: number) => string>> = {
  plain: () => '',
  'another address': (turn) => `x=${turn}`,
  'many words of one letter': (turn) =>
    `q=${range(90)
      .map((at) => letters[(at + turn) % 26])
      .join('+')}`,
  'many words of two letters': (turn) =>
    `q=${range(400)
      .map((at) => `${letters[(at + turn) % 26]}${letters[(at * 7) % 26]}`)
      .join('+')}`,
  'eight common beginnings': (turn) =>
    `q=${range(8)
      .map((at) => `${'aeiousrt'[at]}${letters[(turn + at) % 26]}`)
      .join('+')}`,
  'common words': (turn) =>
    `q=${range(8)
      .map((at) => ['in', 'of', 'the', 'and', 'for', 'to', 'pr', 're', 'co', 'wa', 'sc'][(at + turn) % 11])
      .join('+')}&page=${turn}`,
  'one long word': (turn) => `q=${'wa'.repeat(3_000)}${turn}`,
  'stars and quotes': (turn) => `q=${encodeURIComponent(`"${'*" "'.repeat(300)} ${turn}`)}`,
  'the last page': (turn) => `page=${99_999 - turn}`,
  'a page far away': (turn) => `start=${9_000_000 + turn}&nextProjectId=${turn}&limit=100000`,
  'from the middle': (turn) => `nextProjectId=${5_000 + turn}&nextOrgId=${turn}&start=${turn * 10}`,
  'many filters': (turn) =>
    `q=wa&filter=${range(300)
      .map((at) => `theme:t${at + turn},country:${letters[at % 26]}${letters[turn % 26]}`)
      .join(',')}`.replaceAll(' ', ''),
  'a filter by everything': (turn) => `q=*&filter=country:${letters[turn % 26]}E,theme:edu&start=${turn}`,
  'thousand numbers': (turn) => `projectIds=${range(1_000).map((at) => at + 1 + turn)}`,
  'many parameters': (turn) =>
    range(900)
      .map((at) => `p${at}=${turn}`)
      .join('&'),
  'one parameter many times': (turn) =>
    range(900)
      .map(() => `q=wa${turn}`)
      .join('&'),
  'nested names': (turn) => `${'a[b]'.repeat(500)}=${turn}&__proto__[x]=1`,
  'many encoded signs': (turn) => `q=${'%C3%A9'.repeat(900)}${turn}`,
  'lists of filters': (turn) => `status=active&theme=${turn}&country=KE&page=${turn}&sort=-1&q=wa+ne`,
}

const headers: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  none: {},
  'many types': {
    accept: range(500)
      .map((at) => `a/b${at};q=0.${at}`)
      .join(','),
  },
  'many languages': {
    'accept-language': range(800)
      .map((at) => `x${at};q=0.${at}`)
      .join(','),
  },
  'many encodings': {
    'accept-encoding': range(800)
      .map((at) => `gzip;q=0.${at}`)
      .join(','),
  },
  'many ranges': { range: `bytes=${range(1_000).map((at) => `${at * 2}-${at * 2}`)}` },
  'many tags': {
    'if-none-match': range(500)
      .map((at) => `"tag-${at}"`)
      .join(', '),
  },
  'long cookies': {
    cookie: range(500)
      .map((at) => `c${at}=${at}`)
      .join('; '),
  },
  'many proxies': {
    'x-forwarded-for': range(700)
      .map((at) => `10.0.0.${at % 250}`)
      .join(', '),
  },
  'without compression': { 'accept-encoding': 'identity' },
}

const most = bodyLimit - 100
const bodies: Readonly<Record<string, (turn: number) => readonly [type: string, body: string]>> = {
  'deep JSON': () => ['application/json', `${'{"a":'.repeat(most / 6)}1${'}'.repeat(most / 6)}`],
  'deep lists': () => ['application/json', '['.repeat(most / 2) + ']'.repeat(most / 2)],
  'many members': (turn) => ['application/json', `{${range(4_000).map((at) => `"m${at}":${turn}`)}}`],
  'one long text': () => [
    'application/json',
    JSON.stringify({ auth_request: { user: { email: 'x'.repeat(most - 100) } } }),
  ],
  'escaped text': () => ['application/json', `{"a":"${'\\u0041'.repeat(most / 6 - 10)}"}`],
  'a long number': () => ['application/json', `{"a":${'9'.repeat(most - 10)}}`],
  'deep XML': () => ['application/xml', `${'<a>'.repeat(most / 7)}${'</a>'.repeat(most / 7)}`],
  'many attributes': () => [
    'application/xml',
    `<a ${range(4_000)
      .map((at) => `b${at}="1"`)
      .join(' ')}/>`,
  ],
  'many entities': () => ['application/xml', `<a>${'&amp;'.repeat(most / 5 - 10)}</a>`],
  'many signs to escape': () => ['application/xml', `<a>${'>'.repeat(most - 10)}</a>`],
  'many elements': () => ['application/xml', `<a>${'<b>1</b>'.repeat(900)}</a>`],
  'an account': (turn) => [
    'application/json',
    JSON.stringify({
      auth_request: {
        user: { email: `e${turn}@example.org`, password: `${'long words '.repeat(90)}${turn}` },
        api_key: `k${turn}`,
      },
    }),
  ],
  'a donation': (turn) => [
    'application/json',
    JSON.stringify({
      donation: {
        refcode: String(turn),
        transactionId: `t${turn}`,
        amount: '5',
        project: { id: 1 },
        noteToOrganization: `${'4111 '.repeat(1_500)}`,
        partnerCode: '4111-1111-1111-111'.repeat(300),
      },
    }),
  ],
}

/** Requests of a route that may be expensive; each `turn` is another request of the same kind. */
export function expensiveRequests({ method, pattern }: Route, known: KnownValues, apiKey: string) {
  type Make = (turn: number) => ExpensiveRequest
  const filled = (turn: number, other?: number) =>
    pattern.replaceAll(/:(\w+)|\*/g, (whole: string, name: string | undefined) => {
      if (other !== undefined) return strange(turn)[other] ?? ''
      const values = known[name ?? whole] ?? ['1']
      return values[turn % values.length] ?? '1'
    })
  const withQuery = (path: string, query: string) => {
    const key = path.startsWith('/api/') ? `api_key=${apiKey}` : ''
    const parts = [key, query].filter((part) => part !== '').join('&')
    return parts === '' ? path : `${path}?${parts}`
  }
  const made = new Map<string, Make>()
  const add = (about: string, make: (turn: number) => Omit<ExpensiveRequest, 'about' | 'method'>) =>
    made.set(about, (turn) => ({ about, method, ...make(turn) }))
  for (const [about, query] of Object.entries(queries)) {
    add(about, (turn) => ({ path: withQuery(filled(turn), query(turn)), headers: {} }))
  }
  if (/[:*]/.test(pattern)) {
    for (const index of range(strange(0).length)) {
      add(`a strange place ${index + 1}`, (turn) => ({ path: withQuery(filled(turn, index), ''), headers: {} }))
    }
  }
  for (const [about, some] of Object.entries(headers)) {
    add(about, (turn) => ({ path: withQuery(filled(turn), `x=${turn}`), headers: some }))
  }
  if (method === 'POST') {
    for (const [about, body] of Object.entries(bodies)) {
      add(about, (turn) => {
        const [type, text] = body(turn)
        return { path: filled(turn), headers: { 'content-type': type }, body: text }
      })
    }
  }
  return made
}

/** The two together: the path and query of the one, the headers and the body of the other. */
export function crossed(one: ExpensiveRequest, other: ExpensiveRequest): ExpensiveRequest {
  return { ...other, about: `${one.about}, ${other.about}`, path: one.path }
}
