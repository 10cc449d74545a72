/** A PostgreSQL address, taken apart: pg knows one server of an address, and lets its `options` replace ours. */
export type DatabaseAddress = {
  /** An address for each server, in the order in which they are tried. */
  readonly servers: readonly [string, ...string[]]
  /** Which of them will do. */
  readonly target: (typeof targets)[number]
  /** Settings of its `options`, which each connection gets once it stands: poolers refuse them at its start. */
  readonly settings: Readonly<Record<string, string>>
  /** The rest of its `options`, for what stands before the server, such as `endpoint=...` of Neon. */
  readonly startOptions: string | undefined
}

/** As libpq knows them (`target_session_attrs`). */
const targets = ['any', 'read-write', 'read-only', 'primary', 'standby'] as const
const parts = /^(postgres(?:ql)?:\/\/)((?:[^/?#]*@)?)([^/?#@]*)(\/[^?#]*)?(\?[^#]*)?$/

/**
 * Reads an address such as `postgres://user@a,b:5433/database?target_session_attrs=read-write`; undefined when it is none.
 * Without a target every server will do.
 */
export function readDatabaseAddress(text: string): DatabaseAddress | undefined {
  const [, scheme, user = '', hosts = '', path = '', query = ''] = parts.exec(text) ?? []
  if (scheme === undefined) return undefined
  const parameters = new URLSearchParams(query)
  const target = targets.find((one) => one === (parameters.get('target_session_attrs') ?? 'any'))
  const options = splitOptions(parameters.get('options') ?? '')
  if (target === undefined || options === undefined) return undefined
  parameters.delete('target_session_attrs')
  parameters.delete('options')
  const rest = parameters.size === 0 ? '' : `?${parameters}`
  const [first, ...others] = hosts.split(',').map((host) => `${scheme}${user}${host}${path}${rest}`)
  const servers: [string, ...string[]] = [first ?? '', ...others]
  if (!servers.every((server) => URL.canParse(server))) return undefined
  if (others.length > 0 && hosts.split(',').includes('')) return undefined
  return { servers, target, settings: options.settings, startOptions: options.others.join(' ') || undefined }
}

/** The parameter `options` as PostgreSQL reads it: `-c name=value` or `--name=value`; undefined when a value is missing. */
function splitOptions(text: string) {
  const words = text.match(/(?:\\.|[^\s\\])+/gs)?.map((word) => word.replace(/\\(.)/gs, '$1')) ?? []
  const settings: Record<string, string> = {}
  const others: string[] = []
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? ''
    const pair = word === '-c' ? (words[++index] ?? '') : /^(?:-c|--)(.+)$/s.exec(word)?.[1]
    const [, name, value] = /^([\w.-]+)=(.*)$/s.exec(pair ?? '') ?? []
    if (name !== undefined && value !== undefined) settings[name.replaceAll('-', '_').toLowerCase()] = value
    else if (pair === undefined) others.push(word)
    else return undefined
  }
  return { settings, others }
}
