import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { tokenOfClient } from '../../../src/extensions/registry/access-token.js'
import { type RegistryDeps, registerDatasets, unregisterDatasets } from '../../../src/extensions/registry/register.js'
import { RegistryClient } from '../../../src/extensions/registry/registry-client.js'
import { RegistryHttp } from '../../../src/extensions/registry/registry-http.js'
import { type RegistryFault, RegistryServer, registryClient } from '../../support/servers/registry-server.js'

const { signal } = new AbortController()
const ref = 'US-EIN-123456789'
const paths = ['/iati/activities.xml', '/iati/activities-2.xml', '/iati/organisations.xml']
const names = ['giving-activities', 'giving-activities-2', 'giving-organisations']

describe('datasets are registered', () => {
  let server: RegistryServer
  let totalMs: number
  let publisher: ReturnType<RegistryServer['addOrganisation']>

  beforeEach(async () => {
    totalMs = 20_000
    server = await new RegistryServer().listen()
    server.addOrganisation('GB-CHC-1', 'other', 'editor')
    publisher = server.addOrganisation(ref, 'giving', 'editor')
    return () => server[Symbol.asyncDispose]()
  })

  /** What a process works with; a new one each time, as after a restart. */
  function deps(changes: Partial<RegistryDeps['settings']> = {}, dryRun = false): RegistryDeps {
    const http = new RegistryHttp({ totalMs, backoffMs: 1, tries: 2, maxPauseMs: 50 })
    onTestFinished(() => http[Symbol.asyncDispose]())
    const token = tokenOfClient(http, { ...registryClient, tokenUrl: server.tokenUrl })
    const client = new RegistryClient({ http, url: server.url, token, dryRun })
    const settings = {
      url: server.url,
      publisherRef: ref,
      baseUrl: 'https://giving.example',
      licence: 'cc-by',
      prefix: undefined,
    }
    return { client, paths, settings: { ...settings, visibility: 'public', ...changes } }
  }
  const register = (changes = {}, corrects = false) => registerDatasets(deps(changes), { corrects }, signal)
  const shortNames = () => server.datasets.map(({ fields }) => fields.short_name)
  const requested = () => server.requests.splice(0)
  const reads = ['POST /oauth2/token', 'GET /reporting-orgs', `GET /reporting-orgs/ORG/datasets`]
  const readsOf = (id: string) => reads.map((request) => request.replace('ORG', id))

  it('each once, with no more calls than that takes', async () => {
    const { datasets } = await register()
    expect(datasets.map(({ done }) => done)).toEqual(['created', 'created', 'created'])
    expect(requested()).toEqual([...readsOf(publisher.id), ...paths.map(() => 'POST /datasets')])
    expect(server.datasets[1]).toMatchObject({
      owner: publisher.id,
      fields: {
        ...{ short_name: 'giving-activities-2', human_readable_name: `Organisation ${ref} activities 2` },
        ...{ url: 'https://giving.example/iati/activities-2.xml', source_type: 'primary_source' },
        ...{ licence_id: 'cc-by', visibility: 'public' },
      },
    })
    await register({}, true)
    expect(requested()).toEqual(readsOf(publisher.id))
  })

  it('and corrected only when that is asked for, with the names that they have', async () => {
    const byHand = server.addDataset(publisher, {
      url: 'http://giving.example/iati/activities.xml',
      licence_id: 'odc-by',
    })
    await register()
    expect(server.datasets).toHaveLength(3)
    expect(byHand.fields.licence_id).toBe('odc-by')
    requested()
    const { datasets } = await register({}, true)
    expect(datasets.map(({ done }) => done)).toEqual(['corrected', 'none', 'none'])
    expect(requested()).toEqual([...readsOf(publisher.id), `PATCH /datasets/${byHand.id}`])
    expect(byHand.fields).toEqual({
      ...{ short_name: 'by-hand', human_readable_name: 'By hand', source_type: 'primary_source', licence_id: 'cc-by' },
      ...{ url: 'https://giving.example/iati/activities.xml', visibility: 'public' },
    })
  })

  it('among more datasets than a page holds', async () => {
    server.pageSize = 2
    for (let number = 0; number < 3; number++) server.addDataset(publisher, { short_name: `x-${number}` })
    await register()
    const { datasets, others } = await register()
    expect([datasets.map(({ done }) => done), others]).toEqual([['none', 'none', 'none'], 3])
  })

  it('on paper only with --dry-run, which shows each call', async () => {
    const trial = deps({}, true)
    await registerDatasets(trial, { corrects: true }, signal)
    expect(requested()).toEqual(readsOf(publisher.id))
    const { calls } = trial.client
    expect(calls.map(({ method, sent }) => `${method} ${sent}`)).toEqual([
      ...['GET true', 'GET true', 'POST false', 'POST false', 'POST false'],
    ])
    expect(calls[2]?.body).toMatchObject({ owner_organisation_id: publisher.id, short_name: 'giving-activities' })
  })

  it('and deleted again, those of this service only', async () => {
    server.addDataset(publisher, { short_name: 'survey' })
    await register()
    requested()
    const gone = server.datasets[1]
    server.fault = (_number, request) => {
      // Somebody else deletes it at the same time.
      if (request === `DELETE /datasets/${gone?.id}` && gone) server.datasets.splice(1, 1)
      return undefined
    }
    await unregisterDatasets(deps(), signal)
    expect(shortNames()).toEqual(['survey'])
    expect(requested().filter((request) => request.startsWith('DELETE'))).toHaveLength(3)
  })

  describe('whatever happens to a call', () => {
    const status = (code: number): RegistryFault => ({ kind: 'status', status: code })
    const kinds = ['silence', 'reset', 'cut', 'html'] as const
    const limitSilence = ({ kind }: RegistryFault) => {
      if (kind === 'silence') totalMs = 300
    }
    const both = kinds.flatMap((kind) => [true, false].map((after): RegistryFault => ({ kind, after })))

    it.each([status(401), status(429), status(500), status(503), ...both])('once: %o', async (fault) => {
      limitSilence(fault)
      server.fault = (_number, request) => {
        if (request !== 'POST /datasets') return undefined
        server.fault = undefined
        return fault
      }
      await register()
      expect(shortNames()).toEqual(names)
    })

    it.each<[RegistryFault, string]>([
      [status(401), 'registry-refused'],
      [status(403), 'registry-refused'],
      [status(422), 'registry-refused'],
      [status(307), 'registry-unusable'],
      [status(429), 'registry-unavailable'],
      [status(500), 'registry-unavailable'],
      ...both.map((fault): [RegistryFault, string] => [fault, 'registry-unavailable']),
    ])('always: %o, it ends with %s, and a repeated run completes it', async (fault, code) => {
      limitSilence(fault)
      server.fault = (_number, request) => (request === 'POST /datasets' ? fault : undefined)
      await expect(register()).rejects.toMatchObject({ code })
      server.fault = undefined
      await register()
      expect(shortNames().sort()).toEqual(names)
    })
  })

  it('with a token that ends between two calls', async () => {
    server.fault = (number) => {
      if (number === 4) server.endTokens()
      return undefined
    }
    await register()
    expect(shortNames()).toEqual(names)
    expect(requested().filter((request) => request === 'POST /oauth2/token')).toHaveLength(2)
  })

  it('after the pause that the registry asks for, unless that is long', async () => {
    const paused = (retryAfter: string) => () => ({ kind: 'status', status: 429, retryAfter }) as const
    server.fault = (number) => (number === 4 ? paused('0')() : undefined)
    await register()
    expect(shortNames()).toEqual(names)
    requested()
    server.fault = paused('3600')
    await expect(register()).rejects.toMatchObject({ code: 'registry-unavailable' })
    expect(requested()).toHaveLength(1)
  })

  it('but for the one whose short name another has', async () => {
    const other = server.organisations[0]
    if (other) server.addDataset(other, { short_name: 'giving-activities' })
    const { datasets } = await register()
    expect(datasets.map(({ done, conflict }) => conflict ?? done)).toEqual([
      'the short name giving-activities is taken by another dataset: set REGISTRY_DATASET_PREFIX',
      ...['created', 'created'],
    ])
    await register({ prefix: 'giving-platform' })
    expect(shortNames()).toContain('giving-platform-activities')
    expect(shortNames()).toHaveLength(4)
  })

  it('but for the one whose short name was given meanwhile to another file of ours', async () => {
    const ours = server.organisations.find(({ metadata }) => metadata.organisation_identifier === ref)
    if (!ours) throw new Error('the registry has no such publisher')
    const [taken, url] = ['giving-activities', 'https://other.example/a.xml']
    server.fault = (_number, request) => {
      if (request === 'POST /datasets' && server.datasets.length === 0)
        server.addDataset(ours, { short_name: taken, url })
      return undefined
    }
    const { datasets } = await register()
    expect(datasets[0]).toMatchObject({
      done: 'none',
      conflict: expect.stringContaining(`the short name ${taken} is taken`),
    })
  })

  describe('or refused with what to do', () => {
    it('when the account may not make them public', async () => {
      publisher.role = 'contributor'
      const message = expect.stringMatching(/403.*this account is contributor.*REGISTRY_VISIBILITY=private/)
      await expect(register()).rejects.toMatchObject({ code: 'registry-refused', message })
      await register({ visibility: 'private' })
      expect(shortNames()).toEqual(names)
    })

    it('when the account is still to be accepted', async () => {
      publisher.role = 'contributor_pending'
      const message = expect.stringMatching(/403.*contributor_pending.*accept this account first$/)
      await expect(register()).rejects.toMatchObject({ code: 'registry-refused', message })
    })

    it('when private is what they should be already', async () => {
      await register()
      publisher.role = 'contributor'
      const refused = register({ visibility: 'private' }, true)
      const message = expect.stringMatching(
        /403.*contributor of the organisation;.*change the visibility of a dataset.*change it there/,
      )
      await expect(refused).rejects.toMatchObject({ code: 'registry-refused', message })
      await expect(refused).rejects.not.toThrow('REGISTRY_VISIBILITY')
    })

    it('when the account may not delete them', async () => {
      await register()
      publisher.role = 'contributor'
      const refused = unregisterDatasets(deps(), signal)
      const message = expect.stringMatching(
        /^DELETE.*403.*contributor of the organisation;.*delete a dataset.*role editor, or to delete it there/,
      )
      await expect(refused).rejects.toMatchObject({ code: 'registry-refused', message })
      await expect(refused).rejects.not.toThrow('REGISTRY_VISIBILITY')
    })

    it.each([
      ...['http://giving.example', 'https://127.0.0.1:8080', 'https://[::1]', 'https://10.1.2.3', 'https://[fd00::1]'],
      ...[
        'https://localhost',
        'https://giving.local',
        'https://giving',
        'https://giving.internal.',
        'https://2130706433',
      ],
    ])('when harvesters cannot read them at %s', async (baseUrl) => {
      const message = `BASE_URL: expected a public https address, which the registry's readers can reach, got ${baseUrl}`
      await expect(register({ baseUrl })).rejects.toMatchObject({ code: 'configuration-invalid', message })
      expect(requested()).toEqual([])
    })

    it('when the account has no such publisher', async () => {
      const message = expect.stringMatching(/expected one reporting organisation US-EIN-9.*got GB-CHC-1, US-EIN-123/)
      await expect(register({ publisherRef: 'US-EIN-9' })).rejects.toMatchObject({ code: 'registry-refused', message })
    })

    it('when the publisher has no short name', async () => {
      Object.assign(publisher.metadata, { short_name: null })
      await expect(register()).rejects.toMatchObject({ message: expect.stringContaining('REGISTRY_DATASET_PREFIX') })
    })

    it('when the client is unknown', async () => {
      const { http, url } = { http: new RegistryHttp(), url: server.url }
      onTestFinished(() => http[Symbol.asyncDispose]())
      const token = tokenOfClient(http, { ...registryClient, clientSecret: 'wrong', tokenUrl: server.tokenUrl })
      const wrong = { ...deps(), client: new RegistryClient({ http, url, token }) }
      const message = expect.stringContaining('check REGISTRY_CLIENT_ID and REGISTRY_CLIENT_SECRET')
      await expect(registerDatasets(wrong, { corrects: false }, signal)).rejects.toMatchObject({ message })
    })

    it('when answers are of another form', async () => {
      Object.assign(publisher.metadata, { human_readable_name: 7 })
      await expect(register()).rejects.toMatchObject({
        ...{ code: 'registry-unusable', message: expect.stringContaining('human_readable_name') },
      })
    })
  })
})
