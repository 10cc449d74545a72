import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { readProjectFile } from '../../../support/documents/markdown-table.js'

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
  readonly profiles?: readonly string[]
  readonly volumes?: readonly string[]
}

type Compose = {
  readonly services: Readonly<Record<string, Container>>
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>
}

const text = readProjectFile('docker-compose.yml')
const { services, networks } = parse(text, { merge: true }) as Compose
const demo = parse(readProjectFile('deploy/demo/docker-compose.yml'), { merge: true }) as Compose
const containers = Object.entries(services)

describe.each([...containers, ...Object.entries(demo.services)])('the container %s', (name, container) => {
  it('has no capability but what it cannot start without, no way to new privileges, and a file system that cannot be written but for its volumes', () => {
    expect(container).toMatchObject({ read_only: true, cap_drop: ['ALL'] })
    expect(container.security_opt).toContain('no-new-privileges:true')
    expect(container.tmpfs).toContain('/tmp')
    const added = name === 'proxy' ? ['NET_BIND_SERVICE'] : undefined
    expect([container.cap_add, container.privileged, container.network_mode]).toEqual([added, undefined, undefined])
  })
})

describe('docker-compose.yml', () => {
  it('opens the port of the API and no other; with the profile tls those of HTTPS', () => {
    expect(
      containers.filter(([, { ports, profiles }]) => ports && !profiles).map(([name, { ports }]) => [name, ports]),
    ).toEqual([['api', [expect.stringMatching(/:8080$/)]]])
    expect(containers.filter(([, { profiles }]) => profiles).map(([name]) => name)).toEqual(['proxy'])
    expect(services.proxy).toMatchObject({ profiles: ['tls'], ports: ['80:80', '443:443', '443:443/udp'] })
  })

  it('gives the proxy the file that a proxy outside of containers uses, with the names that the file knows', () => {
    const file = services.proxy?.volumes?.find((volume) => volume.endsWith(':/etc/caddy/Caddyfile:ro'))
    const used = [...readProjectFile(file?.split(':')[0] ?? '').matchAll(/\{\$(\w+)/g)].map(([, name]) => name)
    expect(Object.keys(services.proxy?.environment ?? {}).sort()).toEqual(used.sort())
    const own = [services.api?.environment.PORT, services.proxy?.environment.API_ADDRESS]
    expect(own).toEqual(['8080', 'api:8080'])
    // A container without the profile needs none of its variables.
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the Compose file
    expect(services.proxy?.environment.PUBLIC_HOST).toBe('${PUBLIC_HOST:-localhost}')
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
    expect(services.proxy?.image).toMatch(/^\$\{CADDY_IMAGE:-caddy:\d/)
    expect(text).toMatch(/NODE_IMAGE: \$\{NODE_IMAGE:-node:/)
    const [, versions = ''] =
      /^const versions = (.+)$/m.exec(readProjectFile('test/support/runner/run-node-versions.ts')) ?? []
    expect(versions).toContain(`'${/NODE_IMAGE:-node:(\d+)/.exec(text)?.[1]}'`)
    const from = [...readProjectFile('Dockerfile').matchAll(/^FROM (\S+)/gm)].map(([, image]) => image)
    expect(from.join(' ')).toMatch(/^\$\{NODE_IMAGE\} \$\{NODE_IMAGE\}$/)
  })
})

describe('Dockerfile', () => {
  it('runs the service as a user that is not root', () => {
    expect(readProjectFile('Dockerfile')).toMatch(/^USER node$/m)
  })
})
