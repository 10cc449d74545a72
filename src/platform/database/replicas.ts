import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../kernel/system-errors.js'
import type { Db } from './connection.js'
import type { Store } from './store.js'

/** How one replica is, as it was last asked. */
export type ReplicaState = {
  /** Host and port. */
  readonly name: string
  /** By how many seconds it is behind the primary; undefined where that is not known. */
  readonly lagSeconds: number | undefined
  /** Why nothing is read from it; undefined: it is read from. */
  readonly leftOut: string | undefined
}

type Replica = {
  readonly name: string
  /** A connection for these questions, and the stores that read. */
  readonly asked: Store
  readonly pools: readonly Store[]
  state: ReplicaState
}

type Primary = { readonly position: bigint; readonly system: string | undefined }

const pollMs = 1_000
// A replica that has the last write is found within this time.
const shortMs = 10

/**
 * The standbys that reads may go to. Each is measured by positions in the log of the primary that it has replayed, so one
 * that is cut off counts as behind, and one whose primary is idle does not.
 */
export class Replicas {
  readonly #primary: Store
  readonly #replicas: readonly Replica[]
  readonly #maxLagMs: number
  readonly #told: (state: ReplicaState) => void
  /** When the primary had which position, oldest first. */
  #samples: { readonly at: number; readonly position: bigint }[] = []
  #next = 0
  #polling: NodeJS.Timeout | undefined

  constructor(
    primary: Store,
    replicas: readonly Omit<Replica, 'state'>[],
    { maxLagMs, told }: { readonly maxLagMs: number; readonly told: (state: ReplicaState) => void },
  ) {
    this.#primary = primary
    this.#maxLagMs = maxLagMs
    this.#told = told
    this.#replicas = replicas.map((one) => ({
      ...one,
      state: { name: one.name, lagSeconds: undefined, leftOut: 'it has not been measured yet' },
    }))
  }

  get states(): readonly ReplicaState[] {
    return this.#replicas.map(({ state }) => state)
  }

  /** The pool of this number of a replica that is read from, each in turn; undefined when there is none. */
  pick(pool: number): { readonly store: Store; readonly failed: (error: unknown) => void } | undefined {
    for (let tries = 0; tries < this.#replicas.length; tries++) {
      const replica = this.#replicas[this.#next++ % this.#replicas.length]
      const store = replica?.state.leftOut === undefined ? replica?.pools[pool] : undefined
      if (replica && store) return { store, failed: (error) => this.#leaveOut(replica, undefined, messageOf(error)) }
    }
    return undefined
  }

  /** Measures all of them now. */
  async measure(): Promise<readonly ReplicaState[]> {
    try {
      const at = performance.now()
      const primary = await readPrimary(this.#primary.db)
      this.#samples.push({ at, position: primary.position })
      const oldest = this.#samples.findLastIndex((one) => one.at < at - this.#maxLagMs - 10 * pollMs)
      this.#samples.splice(0, Math.max(0, oldest))
      await Promise.all(this.#replicas.map((replica) => this.#measureOne(replica, primary)))
    } catch (error) {
      for (const replica of this.#replicas) {
        this.#leaveOut(replica, undefined, `the primary cannot be asked: ${messageOf(error)}`)
      }
    }
    return this.states
  }

  /** Measures them every second. */
  watch(): void {
    const again = async () => {
      await this.measure()
      if (this.#polling) this.#polling = setTimeout(again, pollMs).unref()
    }
    this.#polling = setTimeout(again, 0).unref()
  }

  /**
   * Waits until every replica that is read from has what the primary has now. One that takes longer than it may lag is
   * left out by then, here and in every other process.
   */
  async caughtUp(): Promise<void> {
    const waitedFor = this.#replicas.filter(({ state }) => state.leftOut === undefined)
    if (waitedFor.length === 0) return
    const { position } = await readPrimary(this.#primary.db)
    const until = performance.now() + this.#maxLagMs + 2 * pollMs
    await Promise.all(
      waitedFor.map(async (replica) => {
        while (performance.now() < until && replica.state.leftOut === undefined) {
          const found = await readReplica(replica.asked.db).catch(() => undefined)
          if (found && found.position >= position) return
          await sleep(shortMs)
        }
      }),
    )
  }

  async close(): Promise<void> {
    clearTimeout(this.#polling)
    this.#polling = undefined
    await Promise.all(this.#replicas.flatMap(({ asked, pools }) => [asked, ...pools].map((store) => store.close())))
  }

  async #measureOne(replica: Replica, primary: Primary): Promise<void> {
    try {
      const { isStandby, system, position } = await readReplica(replica.asked.db)
      const now = performance.now()
      const had = this.#samples.findLast((one) => one.position <= position)
      const lag = had && (had === this.#samples.at(-1) ? 0 : (now - had.at) / 1000)
      if (!isStandby) this.#leaveOut(replica, undefined, 'it is no standby')
      else if (system !== primary.system) this.#leaveOut(replica, undefined, 'it is a standby of another database')
      else if (lag === undefined) this.#leaveOut(replica, undefined, 'it is behind, and by how much is not known yet')
      else if (lag * 1000 > this.#maxLagMs) this.#leaveOut(replica, lag, `it is ${lag.toFixed(1)} s behind`)
      else this.#set(replica, { name: replica.name, lagSeconds: lag, leftOut: undefined })
    } catch (error) {
      this.#leaveOut(replica, undefined, messageOf(error))
    }
  }

  #leaveOut(replica: Replica, lagSeconds: number | undefined, leftOut: string): void {
    this.#set(replica, { name: replica.name, lagSeconds, leftOut })
  }

  #set(replica: Replica, state: ReplicaState): void {
    const changed = (replica.state.leftOut === undefined) !== (state.leftOut === undefined)
    replica.state = state
    if (changed) this.#told(state)
  }
}

async function readPrimary(db: Db): Promise<Primary> {
  const { rows } = await db.query<{ readonly at: string; readonly system: string }>(
    'select pg_current_wal_insert_lsn()::text as at, (select system_identifier::text from pg_control_system()) as system',
  )
  return { position: positionOf(rows[0]?.at), system: rows[0]?.system }
}

async function readReplica(db: Db) {
  const { rows } = await db.query<{
    readonly at: string | undefined
    readonly isStandby: boolean
    readonly system: string
  }>(
    `select pg_is_in_recovery() as is_standby, pg_last_wal_replay_lsn()::text as at,
      (select system_identifier::text from pg_control_system()) as system`,
  )
  const { at, isStandby = false, system } = rows[0] ?? {}
  return { isStandby, system, position: positionOf(at) }
}

/** A position in the log, such as 2/5A0, as a number; 0 where there is none. */
function positionOf(text: string | undefined): bigint {
  const [high = '0', low = '0'] = text?.split('/') ?? []
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`)
}
