/** An address of Redis, taken apart: the driver knows no address of sentinels, and none of a cluster. */
export type RedisAddress =
  /** A server, or a proxy before it. */
  | { readonly kind: 'server'; readonly encrypted: boolean }
  /** Sentinels, which know the primary of this name. */
  | (Hosts & {
      readonly kind: 'sentinels'
      readonly name: string
      readonly database: number
      /** What the sentinels themselves ask for. */
      readonly sentinelPassword: string | undefined
    })
  /** Nodes of a cluster, which know the others. */
  | (Hosts & { readonly kind: 'cluster' })

type Hosts = {
  readonly encrypted: boolean
  readonly hosts: readonly { readonly host: string; readonly port: number }[]
  readonly username: string | undefined
  readonly password: string | undefined
}

const parts =
  /^redis(s?)\+(sentinel|cluster):\/\/(?:([^/?#@]*)@)?([^/?#@]+)(?:\/([\w.-]+)(?:\/(\d{1,4}))?)?(?:\?([^#]*))?$/
const usualPort = { sentinel: 26379, cluster: 6379 } as const

/**
 * Reads `redis://user:password@host:6379/0`, `redis+sentinel://user:password@a,b:26380/name/0?sentinelPassword=...`,
 * `redis+cluster://user:password@a,b:6380`, and all with `rediss`; undefined when it is none of them.
 */
export function readRedisAddress(text: string): RedisAddress | undefined {
  if (!/^rediss?\+/.test(text)) {
    const isServer = URL.canParse(text) && /^rediss?:$/.test(new URL(text).protocol)
    return isServer ? { kind: 'server', encrypted: text.startsWith('rediss') } : undefined
  }
  const [, encrypted, kind, user = '', list = '', name, database = '0', query = ''] = parts.exec(text) ?? []
  if (kind !== 'sentinel' && kind !== 'cluster') return undefined
  const addresses = list.split(',').map((host) => `redis://${host}`)
  if (!addresses.every((one) => URL.canParse(one) && new URL(one).hostname !== '')) return undefined
  const [username, password] = user.split(/:(.*)/s).map(decoded)
  const hosts = {
    encrypted: encrypted !== '',
    hosts: addresses.map((one) => {
      const { hostname, port } = new URL(one)
      return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || usualPort[kind]) }
    }),
    ...{ username: username || undefined, password: password || undefined },
  }
  const parameters = new URLSearchParams(query)
  if (kind === 'cluster') return name === undefined && query === '' ? { kind, ...hosts } : undefined
  const sentinelPassword = parameters.get('sentinelPassword') ?? undefined
  if (name === undefined || [...parameters.keys()].some((one) => one !== 'sentinelPassword')) return undefined
  return { kind: 'sentinels', ...hosts, name, database: Number(database), sentinelPassword }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
