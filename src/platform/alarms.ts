import type { Cause } from '../kernel/conditions.js'
import { ServiceError, toServiceError } from '../kernel/errors.js'
import { findFact, recordFact } from './database/facts.js'
import type { Store } from './database/store.js'

type Told = { readonly cause: Cause['cause'] | 'test'; readonly message: string }

/** A message about a cause: it began, it continues, or it is over; or it is a test. */
export type AlarmChange = Told & { readonly state: 'new' | 'reminder' | 'over' | 'test'; readonly since: string }

type OpenAlarm = Told & { readonly since: string; readonly toldAt: string }

const reminderMs = 86_400_000

/** What this process has told but could not record, since the database takes no writes. */
export type Unrecorded = { alarms?: readonly OpenAlarm[] }

/**
 * Sends changes of causes: when one begins, again every day, and when it is over. Open causes are kept in the database for
 * all workers, or for all API processes, and recorded before they are sent; while the database takes no writes, `unrecorded` keeps
 * them. The next call repeats what could not be sent. Returns the number of changes sent.
 */
export async function raiseAlarms(
  { db }: Store,
  now: Date,
  causes: readonly Cause[],
  tell: (changes: readonly AlarmChange[]) => Promise<void>,
  { unrecorded = {}, kept = 'open-alarms' }: { unrecorded?: Unrecorded; kept?: 'open-alarms' | 'open-api-alarms' } = {},
): Promise<number> {
  const record = async (alarms: readonly OpenAlarm[]) => {
    try {
      await recordFact(db, kept, JSON.stringify(alarms), now)
      delete unrecorded.alarms
    } catch (error) {
      if (!(error instanceof ServiceError && error.code === 'database-unavailable')) throw error
      unrecorded.alarms = alarms
    }
  }
  const open = unrecorded.alarms ?? (JSON.parse((await findFact(db, kept)) ?? '[]') as OpenAlarm[])
  const at = now.toISOString()
  const changes: AlarmChange[] = []
  const stillOpen: OpenAlarm[] = []
  for (const { cause, message } of joined(causes)) {
    const known = open.find((one) => one.cause === cause)
    const since = known?.since ?? at
    const isDue = known !== undefined && now.getTime() - Date.parse(known.toldAt) >= reminderMs
    if (!known || isDue) changes.push({ cause, message, state: known ? 'reminder' : 'new', since })
    stillOpen.push({ cause, message, since, toldAt: known && !isDue ? known.toldAt : at })
  }
  for (const { cause, message, since } of open) {
    if (!stillOpen.some((one) => one.cause === cause)) changes.push({ cause, message, state: 'over', since })
  }
  if (changes.length > 0 || unrecorded.alarms) await record(stillOpen)
  if (changes.length === 0) return 0
  try {
    await tell(changes)
  } catch (error) {
    await record(open)
    throw error
  }
  return changes.length
}

/** A test alarm that a person asked for: `told` or `failure` once a worker has sent it. */
export type TestAlarm = {
  readonly askedAt: string
  readonly by: string
  readonly toldAt?: string
  /** Why no way took it. */
  readonly failure?: string
}

/** The newest test alarm; undefined: nobody has asked for one. */
export async function findTestAlarm(db: Store['db']): Promise<TestAlarm | undefined> {
  const fact = await findFact(db, 'test-alarm')
  return fact === undefined ? undefined : (JSON.parse(fact) as TestAlarm)
}

/** Asks the workers to send a test alarm, which one of them does within a minute. */
export async function askTestAlarm(db: Store['db'], by: string, now: Date): Promise<void> {
  await recordFact(db, 'test-alarm', JSON.stringify({ askedAt: now.toISOString(), by } satisfies TestAlarm), now)
}

/** Sends the test alarm that was asked for, if there is one, and records what became of it; returns whether there was one. */
export async function sendTestAlarm(
  { db }: Store,
  now: Date,
  tell: (changes: readonly AlarmChange[]) => Promise<void>,
): Promise<boolean> {
  const asked = await findTestAlarm(db)
  if (!asked || asked.toldAt !== undefined || asked.failure !== undefined) return false
  const message = `this is a test, asked for by ${asked.by}; nothing has to be done`
  const end = await tell([{ cause: 'test', message, state: 'test', since: asked.askedAt }]).then(
    () => ({ toldAt: now.toISOString() }),
    (error: unknown) => ({ failure: toServiceError(error).message }),
  )
  await recordFact(db, 'test-alarm', JSON.stringify({ ...asked, ...end } satisfies TestAlarm), now)
  return true
}

/** One entry for each cause, with all of its messages. */
function joined(causes: readonly Cause[]): Cause[] {
  const messages = new Map<Cause['cause'], string[]>()
  for (const { cause, message } of causes) messages.set(cause, [...(messages.get(cause) ?? []), message])
  return [...messages].map(([cause, all]) => ({ cause, message: all.join('; ') }))
}
