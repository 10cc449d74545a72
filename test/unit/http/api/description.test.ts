import { readFileSync } from 'node:fs'
import { fastify } from 'fastify'
import { describe, expect, it } from 'vitest'
import { describeApi } from '../../../../src/http/api/openapi.js'
import { testConfig } from '../../../support/api/api-config.js'
import {
  committedDescription,
  currentDescription,
  type Description,
  filesOf,
  type MediaType,
  operationsOf,
  responseOf,
} from '../../../support/api/api-description.js'
import { DocumentCheck } from '../../../support/api/document-check.js'
import { incompatibleChanges } from '../../../support/api/incompatible-changes.js'

const current = await currentDescription()

describe('the description of the API', () => {
  it('breaks no client: nothing is gone, retyped or required that was not (wire.md 11.2)', () => {
    expect(incompatibleChanges(committedDescription(), current)).toEqual([])
  })

  it('is committed with all that follows from it; after a change of a route: npm run api:describe', () => {
    const stale = Object.entries(filesOf(current)).flatMap(([file, text]) => {
      const committed = readFileSync(new URL(`../../../../${file}`, import.meta.url), 'utf8').split('\n')
      const line = text.split('\n').findIndex((one, index) => one !== committed[index])
      if (line < 0 && text.split('\n').length === committed.length) return []
      return [{ file, line: line + 1, committed: committed[line], follows: text.split('\n')[line] }]
    })
    expect(stale, 'npm run api:describe writes these files anew').toEqual([])
  })

  it('is complete: a route without a description is refused', async () => {
    const app = fastify()
    await describeApi(app, testConfig)
    expect(() => app.get('/new', async () => 'x')).toThrow('GET /new has no description: add config.operations')
    await app.close()
  })

  it('has no reference that leads nowhere', () => {
    const references = [...JSON.stringify(current).matchAll(/"\$ref":"#\/components\/(\w+)\/(\w+)"/g)]
    expect(references.length).toBeGreaterThan(100)
    expect(references.filter(([, kind = '', name = '']) => !current.components[kind]?.[name])).toEqual([])
  })

  it('has examples that fit their schemas, in both formats', () => {
    const check = new DocumentCheck(current)
    let shown = 0
    const problemsOf = (content: Readonly<Record<string, MediaType>> = {}) =>
      Object.entries(content).flatMap(([type, { schema, example }]) => {
        if (example === undefined) return []
        shown++
        // Of XML it is the value of the root.
        return /^application\/(?:json|xml)$/.test(type) ? check.json(schema, example) : []
      })
    for (const { method, path, operation } of operationsOf(current)) {
      expect([method, path, problemsOf(operation.requestBody?.content)]).toEqual([method, path, []])
      for (const response of Object.values(operation.responses)) {
        const { content } = responseOf(current, response)
        expect([method, path, problemsOf(content)]).toEqual([method, path, []])
      }
    }
    expect(shown).toBeGreaterThan(400)
  })

  it('says in words what each operation is for, with an example', () => {
    const silent = operationsOf(current).filter(({ operation }) => !operation.description.includes('For example, '))
    // Its page is the example.
    expect(silent.map(({ operation }) => operation.operationId)).toEqual(['showReference', 'getOpenApiOfJson'])
  })

  it('has an example of every answer and request below /api', () => {
    const without = operationsOf(current)
      .filter(({ path }) => path.startsWith('/api/') && !/^\/api\/(?:docs|openapi)/.test(path))
      .filter(({ operation }) => {
        // What a payment processor sends is described by it.
        const request = operation.operationId === 'receiveWebhook' ? {} : operation.requestBody?.content
        const bodies = [request ?? {}, responseOf(current, operation.responses[200] ?? {}).content]
        return bodies.some((content) => Object.values(content ?? {}).some((one) => !('example' in one)))
      })
    expect(without.map(({ operation }) => operation.operationId)).toEqual([])
  })
})

describe('an incompatible change', () => {
  type Loose = { [name: string]: Loose }
  /** What is reported of a copy of the description with this change. */
  const reported = (change: (copy: Loose) => void): string[] => {
    const copy = structuredClone(current) as unknown as Loose
    change(copy)
    return incompatibleChanges(current, copy as unknown as Description)
  }
  const project = '/api/public/projectservice/projects/{projectId}'
  const at = (copy: Loose, ...names: string[]) => names.reduce((part, name) => part[name] as Loose, copy)

  it('is none without a change, and none that adds', () => {
    const added = reported((copy) => {
      at(copy, 'components', 'schemas', 'Theme', 'properties').color = { type: 'string' } as never
      at(copy, 'paths')['/new'] = {} as never
    })
    expect(added).toEqual([])
  })

  it.each<[string, (copy: Loose) => void, string]>([
    ['an operation that is gone', (copy) => delete at(copy, 'paths')[project], `GET ${project} is gone`],
    [
      'a field of an answer that is gone',
      (copy) => delete at(copy, 'components', 'schemas', 'Project', 'properties').title,
      `GET ${project}: 200: answer in application/json.project.title is gone`,
    ],
    [
      'a field of an answer that may be absent',
      (copy) => {
        at(copy, 'components', 'schemas', 'Theme').required = ['id'] as never
      },
      `GET ${project}: 200: answer in application/json.project.themes.theme[].name may be absent now`,
    ],
    [
      'another type',
      (copy) => {
        at(copy, 'components', 'schemas', 'Project', 'properties', 'goal').type = 'string' as never
      },
      `GET ${project}: 200: answer in application/json.project.goal: the type was number or integer, is string`,
    ],
    [
      'another form in XML',
      (copy) => {
        at(copy, 'components', 'schemas', 'Image', 'properties', 'id').xml = {} as never
      },
      `GET ${project}: 200: answer in application/json.project.image.id: its form in XML is another`,
    ],
    [
      'a parameter that is required',
      (copy) => {
        at(copy, 'components', 'parameters', 'limit').required = true as never
      },
      'GET /api/public/projectservice/all/projects: parameter limit is required now',
    ],
    [
      'a status that is gone',
      (copy) => delete at(copy, 'paths', project, 'get', 'responses')['410'],
      `GET ${project}: status 410 is gone`,
    ],
    [
      'a header that is gone',
      (copy) => delete at(copy, 'components', 'responses', 'ServiceUnavailable', 'headers')['Retry-After'],
      `GET ${project}: 503: header Retry-After is gone`,
    ],
    [
      'a field of a request that is required',
      (copy) => {
        const post = at(copy, 'paths', '/api/userservice/keys', 'post', 'requestBody', 'content', 'application/xml')
        at(post, 'schema').required = ['user', 'scope'] as never
      },
      'POST /api/userservice/keys: request in application/xml.scope is required now',
    ],
  ])('is %s', (_what, change, expected) => {
    expect(reported(change)).toContain(expected)
  })
})
