import { describe, expect, it } from 'vitest'
import { testApi } from '../../../support/api/api.js'
import { committedDescription, operationsOf } from '../../../support/api/api-description.js'
import { testDatabase } from '../../../support/store/database.js'

const json = 'application/json'

describe('the description of JSON alone', async () => {
  const { store } = await testDatabase()
  const api = await testApi(store)
  const served = (await api.app.inject('/api/openapi-json.json')).json()

  it('has each operation with answers in JSON, at an address that gives JSON to any client', async () => {
    const ids = operationsOf(served).map(({ operation }) => operation.operationId)
    const both = operationsOf(committedDescription()).filter(({ operation }) => {
      const types = Object.keys((operation.responses[200] as { content?: object }).content ?? {})
      return types.includes(json) && types.every((type) => /json$|\/xml$|atom\+xml$/.test(type))
    })
    expect(ids).toEqual(both.map(({ operation }) => operation.operationId).filter((id) => id !== 'receiveWebhook'))
    const withoutSuffix = Object.keys(served.paths).filter((address) => !address.endsWith('.json'))
    expect(withoutSuffix).toEqual(['/healthz', '/readyz'])
    for (const { method, path: address } of operationsOf(served)) {
      // An error of a published file is in the format that the request accepts.
      if (!address.startsWith('/api/')) continue
      const asked = { method: method as 'GET' | 'POST', url: address.replaceAll(/\{\w+\}/g, '77') }
      const answer = await api.app.inject({ ...asked, headers: { accept: '*/*' } })
      expect([address, answer.headers['content-type']]).toEqual([address, json])
    }
  })

  it('has nothing of XML, both ways to send a key with the header first, and lists that have their array', () => {
    expect(JSON.stringify(served)).not.toMatch(/application\/(?:atom\+)?xml|"xml":/)
    const names = Object.keys(served.components.securitySchemes ?? {})
    expect(names).toEqual(['api_key', 'api_token', 'key_header', 'token_header'])
    const used = operationsOf(served).flatMap(({ operation }) => operation.security.flatMap(Object.keys))
    expect(new Set(used)).toEqual(new Set(names))
    const ways = new Set(operationsOf(served).map(({ operation }) => operation.security.flatMap(Object.keys).join()))
    expect([...ways].sort()).toEqual(['', 'key_header,api_key', 'key_header,token_header,api_key,api_token'])
    const { Projects, ProjectIds, Organizations } = served.components.schemas ?? {}
    expect(Projects?.required).toEqual(['numberFound', 'project'])
    expect(ProjectIds?.required).toEqual(['numberFound', 'project'])
    expect(Organizations?.required).toEqual(['organization'])
  })
})
