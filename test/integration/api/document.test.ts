import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
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

describe('docs/api.md', async () => {
  const { store } = await testDatabase()
  const text = readFileSync(new URL('../../../docs/api.md', import.meta.url), 'utf8')
  const documented = [...text.matchAll(/^\| (GET|POST) \| `(\S+)` \|/gm)].map(([, method, path]) => `${method} ${path}`)

  it('lists exactly the operations that are registered', async () => {
    const { app } = await testApi(store)
    await app.ready()
    const registered = routesOf(app.printRoutes({ commonPrefix: false })).filter((route) =>
      prefixes.some((prefix) => route.includes(` ${prefix}`)),
    )
    expect(documented.toSorted()).toEqual(registered.sort())
  })

  it('lists no read without golden documents', () => {
    const reads = documented.filter((operation) => operation.startsWith('GET ')).map((operation) => operation.slice(4))
    expect(reads.sort()).toEqual(readRequests.map(({ route }) => route).sort())
  })
})
