import { existsSync } from 'node:fs'
import type { InjectOptions } from 'fastify'
import { describe, expect, it } from 'vitest'
import { tableOfRoutes } from '../../../campaign/support/expensive-requests.js'
import { testApi } from '../../../support/api/api.js'
import { readProjectFile, readTable } from '../../../support/documents/markdown-table.js'
import { testDatabase } from '../../../support/store/database.js'

// Is there where a payment processor sends messages, which it signs in place of a key.
const signed = '/api/public/payments/:gateway'

describe('the table of routes that need no key', async () => {
  const { store } = await testDatabase()
  const rows = readTable(readProjectFile('docs/reference/keyless-routes.md'), '| Routes without a key |').map(
    ([names = '', , tests = '']) => ({
      names: names.replaceAll('`', '').split(', '),
      tests: tests.replaceAll('`', '').split(', '),
    }),
  )
  /** Whether a name of the table, whose last `*` stands for any end, is that of the route. */
  const isNamed = (name: string, route: string) =>
    name.endsWith('*') && name !== '/*' ? route.startsWith(name.slice(0, -1)) : route === name

  const { app } = await testApi(store)
  const found: string[] = []
  for (const { method, pattern } of tableOfRoutes(app)) {
    const url = pattern.replaceAll('*', 'x').replace(/:\w+/g, '1')
    const { statusCode } = await app.inject({ method: method as InjectOptions['method'] & string, url })
    // The pages of a language are those without it.
    if (statusCode !== 401) found.push(pattern.replace(/^\/(?:en|fr|es|pt|de|ar)(?=\/|$)/, '') || '/')
  }
  const keyless = [...new Set([...found, signed])]

  it('names every one of them once', () => {
    const times = keyless.map((route) => [
      route,
      rows.filter(({ names }) => names.some((name) => isNamed(name, route))).length,
    ])
    expect(times.filter(([, count]) => count !== 1)).toEqual([])
  })

  it('names no route that is not there or needs a key, and tests that are there', () => {
    const strangers = rows.flatMap(({ names }) =>
      names.filter((name) => !keyless.some((route) => isNamed(name, route))),
    )
    expect(strangers).toEqual([])
    expect(rows.flatMap(({ tests }) => tests).filter((test) => !existsSync(test))).toEqual([])
  })
})
