import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readProjectFile } from '../../support/markdown-table.js'

type Container = {
  readonly image: string
  readonly user?: string
  readonly read_only?: boolean
  readonly privileged?: boolean
  readonly cap_drop?: readonly string[]
  readonly cap_add?: readonly string[]
  readonly security_opt?: readonly string[]
  readonly tmpfs?: readonly string[]
  readonly ports?: readonly string[]
  readonly networks?: readonly string[]
  readonly network_mode?: string
  readonly command?: readonly string[]
  readonly environment: Readonly<Record<string, string>>
}

type Compose = {
  readonly services: Readonly<Record<string, Container>>
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>
}

const text = readProjectFile('docker-compose.yml')
const { services, networks } = parse(text, { merge: true }) as Compose
const containers = Object.entries(services)

describe.each(containers)('the container %s', (_name, container) => {
  it('has no capability, no way to new privileges, and a file system that cannot be written but for its volumes', () => {
    expect(container).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
    expect(container.security_opt).toContain('no-new-privileges:true')
    expect(container.tmpfs).toContain('/tmp')
    expect([container.cap_add, container.privileged, container.network_mode]).toEqual([undefined, undefined, undefined])
  })
})

describe('docker-compose.yml', () => {
  it('opens the port of the API and no other', () => {
    expect(containers.filter(([, { ports }]) => ports).map(([name, { ports }]) => [name, ports])).toEqual([
      ['api', [expect.stringMatching(/:8080$/)]],
    ])
  })

  it('keeps database and queue in a network of their own, as users that are not root', () => {
    expect(networks.internal).toEqual({ internal: true })
    for (const name of ['postgres', 'redis']) {
      expect(services[name]).toMatchObject({ networks: ['internal'], user: name })
    }
  })

  it('has no password of its own: those of database and queue must be given', () => {
    expect(services.postgres?.environment.POSTGRES_PASSWORD).toMatch(/^\$\{POSTGRES_PASSWORD:\?/)
    expect(services.redis?.command?.join(' ')).toMatch(/--requirepass \$\{REDIS_PASSWORD:\?\}/)
    expect(services.api?.environment.DATABASE_URL).toMatch(/postgres:\/\/giving:\$\{POSTGRES_PASSWORD:\?/)
    expect(services.api?.environment.REDIS_URL).toMatch(/redis:\/\/:\$\{REDIS_PASSWORD:\?/)
    expect(text).not.toMatch(/PASSWORD:-./)
  })

  it('lets every image be pinned by its digest', () => {
    expect(services.postgres?.image).toMatch(/^\$\{POSTGRES_IMAGE:-postgres:\d+\}$/)
    expect(services.redis?.image).toMatch(/^\$\{REDIS_IMAGE:-redis:/)
    expect(text).toMatch(/NODE_IMAGE: \$\{NODE_IMAGE:-node:/)
    const from = [...readProjectFile('Dockerfile').matchAll(/^FROM (\S+)/gm)].map(([, image]) => image)
    expect(from.join(' ')).toMatch(/^\$\{NODE_IMAGE\} \$\{NODE_IMAGE\}$/)
  })
})

describe('Dockerfile', () => {
  it('runs the service as a user that is not root', () => {
    expect(readProjectFile('Dockerfile')).toMatch(/^USER node$/m)
  })
})
