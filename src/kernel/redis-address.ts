/** An address of Redis, taken apart: the driver knows no address of sentinels. */
export type RedisAddress =
  /** A server, or a proxy before it. */
  | { readonly kind: 'server'; readonly encrypted: boolean }
  /** Sentinels, which know the primary of this name. */
  | {
      readonly kind: 'sentinels'
      readonly encrypted: boolean
      readonly sentinels: readonly { readonly host: string; readonly port: number }[]
      readonly name: string
      readonly database: number
      readonly username: string | undefined
      readonly password: string | undefined
      /** What the sentinels themselves ask for. */
      readonly sentinelPassword: string | undefined
    }

const parts = /^redis(s?)\+sentinel:\/\/(?:([^/?#@]*)@)?([^/?#@]+)\/([\w.-]+)(?:\/(\d{1,4}))?(?:\?([^#]*))?$/

/**
 * Reads `redis://user:password@host:6379/0` or `redis+sentinel://user:password@a,b:26380/name/0?sentinelPassword=...`, and
 * both with `rediss`; undefined when it is none of them.
 */
export function readRedisAddress(text: string): RedisAddress | undefined {
  if (!/^rediss?\+sentinel:/.test(text)) {
    const isServer = URL.canParse(text) && /^rediss?:$/.test(new URL(text).protocol)
    return isServer ? { kind: 'server', encrypted: text.startsWith('rediss') } : undefined
  }
  const [, encrypted, user = '', hosts = '', name, database = '0', query = ''] = parts.exec(text) ?? []
  if (name === undefined) return undefined
  const sentinels = hosts.split(',').map((host) => `redis://${host}`)
  if (!sentinels.every((one) => URL.canParse(one) && new URL(one).hostname !== '')) return undefined
  const [username, password] = user.split(/:(.*)/s).map(decoded)
  const parameters = new URLSearchParams(query)
  const sentinelPassword = parameters.get('sentinelPassword') ?? undefined
  if ([...parameters.keys()].some((one) => one !== 'sentinelPassword')) return undefined
  return {
    kind: 'sentinels',
    encrypted: encrypted !== '',
    sentinels: sentinels.map((one) => {
      const { hostname, port } = new URL(one)
      return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 26379) }
    }),
    name,
    database: Number(database),
    ...{ username: username || undefined, password: password || undefined, sentinelPassword },
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
