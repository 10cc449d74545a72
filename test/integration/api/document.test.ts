import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { clientTokenOperation, donationOperations } from '../../../src/api/routes/donations.js'
import { testApi } from '../../support/api.js'
import { testDatabase } from '../../support/database.js'
import { readRequests } from '../../support/read-operations.js'

const prefixes = ['/api/public/', '/api/userservice/', '/api/secure/']

/** `GET /a/b` of every route in the router's own drawing, whose nodes are pieces of paths. */
function routesOf(drawing: string): string[] {
  const pieces: string[] = []
  return drawing.split('\n').flatMap((line) => {
    const match = /^([│ ]*)[├└]── (\S+)(?: \(([A-Z, ]+)\))?/u.exec(line)
    if (!match) return []
    const [, indent = '', piece = '', methods = ''] = match
    // A catch-all is drawn without the slash before it.
    pieces.splice(indent.length / 4, pieces.length, piece === '*' ? '/*' : piece)
    const names = methods.split(', ')
    // Catch-alls answer any method, with an error.
    if (names.includes('TRACE')) return []
    return names.filter((name) => name === 'GET' || name === 'POST').map((name) => `${name} ${pieces.join('')}`)
  })
}

type Description = { readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly summary: string }>>>> }

const secureOperations = [
  ...donationOperations.map(({ path, summary }) => ['POST', path, summary] as const),
  ['GET', clientTokenOperation.path, clientTokenOperation.summary] as const,
]

/** Method, path and meaning of all operations: the description of the API has them, but for donations. */
function operationsOf({ paths }: Description): (readonly [method: string, path: string, meaning: string])[] {
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, { summary }]) =>
        [method.toUpperCase(), path.replace(/\{(\w+)\}/g, ':$1').replace('{*}', '*'), summary] as const,
    ),
  )
  return [...described, ...secureOperations]
}

describe('docs/api.md', async () => {
  const { store } = await testDatabase()
  const { app } = await testApi(store)
  const file = '../../../docs/api.md'
  const isRow = (line: string) => /^\| (?:GET|POST) \|/.test(line)
  let operations: ReturnType<typeof operationsOf> = []

  beforeAll(async () => {
    operations = operationsOf((await app.inject('/api/openapi.json')).json())
  })

  it('lists the operations; after a change of them: npx vitest run test/integration/api/document.test.ts -u', async () => {
    const rows = operations.map(([method, path, meaning]) => `| ${method} | \`${path}\` | ${meaning} |`)
    const lines = readFileSync(new URL(file, import.meta.url), 'utf8').split('\n')
    const start = lines.findIndex(isRow)
    const others = lines.filter((line) => !isRow(line))
    await expect(others.toSpliced(start, 0, ...rows).join('\n')).toMatchFileSnapshot(file)
  })

  it('lists exactly what is registered, and no read without golden documents', () => {
    const listed = operations.map(([method, path]) => `${method} ${path}`).sort()
    const registered = routesOf(app.printRoutes({ commonPrefix: false })).filter((route) =>
      prefixes.some((prefix) => route.includes(` ${prefix}`)),
    )
    expect(listed).toEqual(registered.sort())
    const reads = listed.filter((operation) => operation.startsWith('GET ') && !operation.includes('/secure/'))
    expect(reads).toEqual(readRequests.map(({ route }) => `GET ${route}`).sort())
  })
})
