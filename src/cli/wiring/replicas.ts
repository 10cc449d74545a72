import { readDatabaseAddress } from '../../kernel/database-address.js'
import { Replicas } from '../../platform/database/replicas.js'
import type { Store } from '../../platform/database/store.js'
import { openPool, type Runtime } from './runtime.js'

// A standby that stalls is left out soon.
const answerMs = 1_000

/** The standbys of DATABASE_READ_URL, each with the stores that `open` makes for reads; undefined when none is configured. */
export function openReplicas(
  runtime: Runtime<'readMaxLagSeconds'>,
  primary: Store,
  open: (url: string) => readonly Store[],
): Replicas | undefined {
  const { config, secrets, log } = runtime
  const address = secrets.databaseReadUrl === undefined ? undefined : readDatabaseAddress(secrets.databaseReadUrl)
  if (!address) return undefined
  const settings = Object.entries(address.settings).map(
    ([name, value]) => `-c ${name}=${value.replace(/[\\ ]/g, '\\$&')}`,
  )
  const replicas = address.servers.map((server) => {
    const place = new URL(server)
    if (settings.length > 0) place.searchParams.set('options', settings.join(' '))
    const url = place.href
    const asked = openPool({ ...runtime, databaseUrl: url }, { max: 1, statementTimeoutMs: answerMs })
    return { name: place.host, asked: asked.answeringWithin(answerMs), pools: open(url) }
  })
  return new Replicas(primary, replicas, {
    maxLagMs: config.readMaxLagSeconds * 1000,
    told: ({ name, leftOut }) => {
      if (leftOut === undefined) log.info({ standby: name }, 'the API reads from a standby')
      else log.warn({ standby: name, reason: leftOut }, 'the API reads no more from a standby')
    },
  })
}
