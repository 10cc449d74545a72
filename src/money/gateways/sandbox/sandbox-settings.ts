import type { Clock } from '../../../kernel/dates.js'
import type { Decimal } from '../../../kernel/money.js'
import type { Db } from '../../../platform/database/connection.js'
import { findFact, lockFacts, recordFact } from '../../../platform/database/facts.js'
import type { Store } from '../../../platform/database/store.js'

/** How a rehearsal is set, for all processes. */
export type SandboxSettings = {
  /** How far its time is ahead of the clock; below 0: behind it. */
  readonly aheadMs: number
  /** What one of another currency is worth in the platform's. */
  readonly rates: ReadonlyMap<string, Decimal>
}

/** The rate of a currency that has none of its own. */
export const usualRate = '1.1' as Decimal

export async function readSandboxSettings(db: Db): Promise<SandboxSettings> {
  const stored = await findFact(db, 'sandbox')
  const { aheadMs = 0, rates = [] } = stored === undefined ? {} : (JSON.parse(stored) as Partial<Stored>)
  return { aheadMs, rates: new Map(rates) }
}

type Stored = { readonly aheadMs: number; readonly rates: readonly (readonly [string, Decimal])[] }

/** Changes the settings as `change` says; returns the new ones. */
export async function changeSandboxSettings(
  store: Store,
  at: Date,
  change: (settings: SandboxSettings) => Partial<SandboxSettings>,
): Promise<SandboxSettings> {
  return await store.transaction(async (db) => {
    await lockFacts(db)
    const before = await readSandboxSettings(db)
    const after = { ...before, ...change(before) }
    await recordFact(db, 'sandbox', JSON.stringify({ ...after, rates: [...after.rates] } satisfies Stored), at)
    return after
  })
}

/** The time of a rehearsal, which another process may move. */
export type SandboxTime = {
  readonly clock: Clock
  /** Asks how the time was moved; `atMostMs`: unless that was asked within this time. */
  readonly refresh: (atMostMs?: number) => Promise<void>
}

export function createSandboxTime(store: Store, clock: Clock): SandboxTime {
  let aheadMs = 0
  let asked = Number.NEGATIVE_INFINITY
  return {
    clock: () => new Date(clock().getTime() + aheadMs),
    refresh: async (atMostMs = 0) => {
      if (clock().getTime() - asked < atMostMs) return
      const at = clock().getTime()
      aheadMs = (await readSandboxSettings(store.db)).aheadMs
      // What was not answered is asked again.
      asked = at
    },
  }
}
