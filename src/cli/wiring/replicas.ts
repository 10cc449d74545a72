import { setTimeout as sleep } from 'node:timers/promises'
import { readDatabaseAddress } from '../../kernel/database-address.js'
import { type ReplicaState, Replicas } from '../../platform/database/replicas.js'
import type { Store } from '../../platform/database/store.js'
import { openPool, type Runtime } from './runtime.js'

// A standby that stalls is left out soon.
const answerMs = 1_000
const betweenMeasuresMs = 1_000

/** The standbys of DATABASE_READ_URL, each with the stores that `open` makes for reads; undefined when none is configured. */
export function openReplicas(
  runtime: Runtime,
  primary: Store,
  open: (url: string) => readonly Store[],
): Replicas | undefined {
  const { config, log } = runtime
  const address =
    config.secrets.databaseReadUrl === undefined ? undefined : readDatabaseAddress(config.secrets.databaseReadUrl)
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

/**
 * The store of a command that reads much at once: a standby that has all that the primary has now, else the primary, which also
 * repeats what a standby breaks off.
 */
export async function readingFromStandbys(runtime: Runtime): Promise<Store> {
  const { store } = runtime
  const replicas = openReplicas(runtime, store, (url) => [openPool({ ...runtime, databaseUrl: url }, { max: 2 })])
  if (!replicas) return store
  runtime.defer(() => replicas.close())
  await measureTwice(replicas)
  await replicas.caughtUp()
  return store.reading(() => replicas.pick(0))
}

/** How the standbys are: the first measure finds only one that has everything. */
export async function measureTwice(replicas: Replicas): Promise<readonly ReplicaState[]> {
  await replicas.measure()
  await sleep(betweenMeasuresMs)
  return await replicas.measure()
}
