import { readdirSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { serviceWords } from '../../../src/accounts/password-strength.js'
import {
  type Allowance,
  accountAllowance,
  pairAllowance,
  placeAllowance,
} from '../../../src/http/api/operations/allowances.js'
import { type Variable, variables } from '../../../src/platform/config/variables.js'
import { projectRoot } from '../../support/documents/how-to.js'
import { readFirstTable, readProjectFile } from '../../support/documents/markdown-table.js'
import { asvsDoesNotApply, promisesOf } from '../../support/documents/promises.js'

const document = readProjectFile('docs/reference/secrets.md')
const page = readProjectFile('docs/reference/asvs.md')

/** The level of each requirement of OWASP ASVS 5.0.0 by section: the third digit of 2.1 is the level of 2.1.3. */
const levels = {
  ...{ '1.1': '22', '1.2': '1111122223', '1.3': '112222222223', '1.4': '222', '1.5': '123' },
  ...{ '2.1': '122', '2.2': '112', '2.3': '12223', '2.4': '23' },
  ...{ '3.1': '3', '3.2': '113', '3.3': '12223', '3.4': '11222233', '3.5': '11122333', '3.6': '3', '3.7': '22333' },
  ...{ '4.1': '12233', '4.2': '23333', '4.3': '22', '4.4': '1222' },
  ...{ '5.1': '2', '5.2': '112333', '5.3': '113', '5.4': '222' },
  ...{ '6.1': '122', '6.2': '111111112222', '6.3': '11223333', '6.4': '112233', '6.5': '22222333', '6.6': '2223' },
  ...{ '6.7': '33', '6.8': '2222' },
  ...{ '7.1': '222', '7.2': '1111', '7.3': '22', '7.4': '11222', '7.5': '223', '7.6': '22' },
  ...{ '8.1': '1233', '8.2': '1123', '8.3': '133', '8.4': '23' },
  ...{ '9.1': '111', '9.2': '1222' },
  ...{ '10.1': '22', '10.2': '223', '10.3': '22223', '10.4': '1111122222233333', '10.5': '22222', '10.6': '22' },
  ...{ '10.7': '222' },
  ...{ '11.1': '2233', '11.2': '22233', '11.3': '11233', '11.4': '1222', '11.5': '23', '11.6': '23', '11.7': '33' },
  ...{ '12.1': '12233', '12.2': '11', '12.3': '22223' },
  ...{ '13.1': '2333', '13.2': '222223', '13.3': '2233', '13.4': '1222233' },
  ...{ '14.1': '22', '14.2': '12223333', '14.3': '122' },
  ...{ '15.1': '12233', '15.2': '12233', '15.3': '1222222', '15.4': '3333' },
  ...{ '16.1': '2', '16.2': '22222', '16.3': '2222', '16.4': '222', '16.5': '2223' },
  ...{ '17.1': '23', '17.2': '22223333', '17.3': '22' },
}

type Requirement = { readonly number: string; readonly level: string }

/** All requirements, in their order. */
const wanted: readonly Requirement[] = Object.entries(levels).flatMap(([section, digits]) =>
  [...digits].map((level, index) => ({ number: `${section}.${index + 1}`, level })),
)

/** What `3.7.2`, `3.3.1 to 3.3.4`, the section `4.3` and the chapter `17` stand for. */
function requirementsIn(name: string): readonly Requirement[] {
  const [first = '', last] = name.split(' to ')
  if (last === undefined) return wanted.filter(({ number }) => `${number}.`.startsWith(`${first}.`))
  const index = (end: string) => wanted.findIndex(({ number }) => number === end)
  return wanted.slice(index(first), index(last) + 1)
}

describe('docs/reference/asvs.md', () => {
  const open = [...page.matchAll(/^\| (\d+\.\d+\.\d+) \| ([123]) \| .+ \|$/gm)].map(([, number = '', level = '']) => ({
    number,
    level,
  }))
  const names = Object.keys(asvsDoesNotApply).flatMap((list) => list.split(', '))
  const absent = names.flatMap(requirementsIn)
  const met = promisesOf('asvs').flatMap(requirementsIn)
  const inOrder = (list: readonly Requirement[]) =>
    list.map(({ number, level }) => `${number} (${level})`).sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))

  it('names what is neither shown by a test nor inapplicable, with its level', () => {
    expect([...names, ...promisesOf('asvs')].filter((name) => requirementsIn(name).length === 0)).toEqual([])
    expect(inOrder([...met, ...open, ...absent])).toEqual(inOrder(wanted))
    expect(open.map(({ number, level }) => `${number} (${level})`)).toEqual(inOrder(open))
  })

  it('counts them: at level 2 at least 19 of 20 that apply are met', () => {
    const counts = ['1', '2', '3'].map((level) =>
      [wanted, met, open, absent].map((list) => list.filter((one) => one.level === level).length),
    )
    const stated = [...page.matchAll(/^\| level ([123]) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$/gm)]
    expect(stated.map(([, , ...numbers]) => numbers.map(Number))).toEqual(counts)
    const [, [, metAt2 = 0, openAt2 = 0] = []] = counts
    expect(metAt2 / (metAt2 + openAt2)).toBeGreaterThanOrEqual(0.95)
  })
})

const sources = ['src', 'jobs'].flatMap((room) =>
  readdirSync(path.join(projectRoot, room), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => ({ name: path.join(room, name), text: readProjectFile(path.join(room, name)) })),
)
const found = (pattern: RegExp) =>
  sources.flatMap(({ name, text }) => [...text.matchAll(pattern)].map(([all]) => `${name}: ${all}`))

it('the sources call no shell and evaluate no text', () => {
  expect(found(/\beval\(|\bnew Function\(|\bnew RegExp\(|shell: true/g).sort()).toEqual([
    // Of names of elements, which are our own.
    'src/catalogue/import/fields-of-element.ts: new RegExp(',
    // Of words of header-words.json.
    ...Array(3).fill('src/catalogue/import/row-reading.ts: new RegExp('),
    // Of constants.
    'src/kernel/report-html.ts: new RegExp(',
  ])
  const started = found(/import \{[^}]*\} from 'node:(?:child_process|vm)'/g)
  expect(
    started.filter(
      (one) => !/import \{ (?:type \w+, )*(?:spawn|execFile|fork)(?:, (?:type \w+|spawn|execFile))* \}/.test(one),
    ),
  ).toEqual([
    // It evaluates a constant.
    "src/cli/wiring/process.ts: import { runInNewContext } from 'node:vm'",
  ])
})

it('the sources use the cryptography that docs/reference/secrets.md lists, and no other', () => {
  const [table = ''] = document.split('\n## Cryptography\n').slice(1)
  const listed = [...table.matchAll(/^\| `([\w-]+)`/gm)].map(([, name]) => name)
  const used = sources.flatMap(({ text }) =>
    [
      ...text.matchAll(
        /\b(?:createHash|createHmac|hash|createCipheriv|createDecipheriv|generateKeyPair(?:Sync)?)\('([\w-]+)'/g,
      ),
    ].map(([, name]) => name),
  )
  expect([...new Set([...used, 'argon2id'])].sort()).toEqual([...new Set(listed)].sort())
})

it('the image has named files only, and no source control metadata', () => {
  expect(readProjectFile('.dockerignore')).toMatch(/^\*$/m)
  expect(readProjectFile('.dockerignore')).not.toContain('.git')
  expect(readProjectFile('Dockerfile')).not.toMatch(/^(?:COPY|ADD)\s(?:--\S+\s+)*\.\s/m)
})

it('SECURITY.md says when weaknesses are fixed, those of packages too', () => {
  expect(readProjectFile('SECURITY.md')).toMatch(
    /within thirty[\s\S]*packages in production are fixed in the same\s+times/,
  )
})

it('the sources make random values that nobody may guess by the generator for cryptography', () => {
  // Pauses between tries.
  expect(found(/\bMath\.random\b/g).sort()).toEqual([
    'jobs/queue.ts: Math.random',
    'src/platform/embedded-postgres/lock.ts: Math.random',
    'src/platform/outgoing/http-client.ts: Math.random',
  ])
})

it('the sources keep nothing in browsers, and open no WebSocket', () => {
  expect(found(/set-cookie|document\.cookie|localStorage|sessionStorage|indexedDB|new WebSocket/gi)).toEqual([])
})

it('pages, API and console send no request to anybody', () => {
  const sending =
    /\/outgoing\/http-client\.js'|from 'undici'|(?<![.#\w])fetch\(|\b(?:request|get)\b[^\n]* from 'node:https?'/g
  const sent = found(sending)
  expect(sent.filter((one) => one.startsWith('src/http/'))).toEqual([])
  expect(sent.length).toBeGreaterThan(5)
})

it('the sources verify the certificates of others', () => {
  expect(found(/rejectUnauthorized: \w+|checkServerIdentity|NODE_TLS_REJECT_UNAUTHORIZED|ALLOW_INVALID/g)).toEqual([
    // It asks its own process whether it is alive.
    'src/cli/service/health.ts: rejectUnauthorized: false',
  ])
})

it('the API asks nothing about a person but e-mail and password', () => {
  const { paths } = JSON.parse(readProjectFile('openapi.json')) as { readonly paths: Record<string, object> }
  const bodies = Object.entries(paths)
    .filter(([address]) => address.startsWith('/api/userservice/'))
    .map(([, operations]) =>
      JSON.stringify(operations, (name, value) => (/^examples?$/.test(name) ? undefined : value)),
    )
  const fields = bodies.flatMap((body) => [...body.matchAll(/"(\w+)":\{"type":"string","minLength"/g)])
  expect([...new Set(fields.map(([, name]) => name))].sort()).toEqual([
    ...['access_token', 'api_key', 'email', 'expires_at', 'invitation', 'new_password', 'origins', 'password'],
    ...['reset_code', 'scope', 'verification_code'],
  ])
})

it('docs/reference/accounts.md lists the words of this service that make a password easy to guess', () => {
  const [, listed = ''] = /words of this service \(([^)]+)\)/.exec(readProjectFile('docs/reference/accounts.md')) ?? []
  expect(listed.split(/,\s+/)).toEqual(serviceWords)
})

it('docs/reference/accounts.md has the limits of sign-ins', () => {
  const [, text = ''] = readProjectFile('docs/reference/accounts.md').split('\n## Failed sign-ins\n')
  const row = (whom: string, { free, longestSeconds }: Allowance) => {
    const minutes = longestSeconds / 60
    return [whom, String(free), `${minutes} minute${minutes === 1 ? '' : 's'}`]
  }
  expect(readFirstTable(text)).toEqual([
    row('an account from an address', pairAllowance),
    row('an address, whatever the account', placeAllowance),
    row('an account, from wherever', accountAllowance),
  ])
})

describe('docs/reference/secrets.md', () => {
  it('has each table of the database in one class of data', () => {
    const [, text = ''] = document.split('\n## Classes of data\n')
    const listed = [...(text.split('\n## ')[0] ?? '').matchAll(/`([a-z_]+)`/g)]
    const tables = [...readProjectFile('test/support/store/schema/schema.sql').matchAll(/^create table (\w+) \(/gm)]
    expect(
      listed.map(([, name]) => name).sort(),
      'docs/reference/secrets.md, "Classes of data": name each table in the class that protects it',
    ).toEqual(tables.map(([, name]) => name).sort())
  })

  it('has each secret of the configuration once, with what it protects and how it is replaced', () => {
    const [, text = ''] = document.split('\n## Keys and other secrets\n')
    const listed = readFirstTable(text).flatMap(([names = '']) => [...names.matchAll(/[A-Z][A-Z0-9_]+/g)])
    const secrets = Object.entries<Variable<unknown>>(variables).filter(([, { secret }]) => secret)
    expect(listed.map(([name]) => name).sort()).toEqual([...secrets.map(([name]) => name), 'TLS_KEY_FILE'].sort())
  })
})
