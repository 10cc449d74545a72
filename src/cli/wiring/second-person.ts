import type { AuditEvent, Operator } from '../../accounts/sql/audit-events.js'
import { ServiceError } from '../../kernel/errors.js'
import { findFact, lockFacts, recordFact } from '../../platform/database/facts.js'
import { auditOperator, userOfProcess } from './audit.js'
import type { Runtime } from './runtime.js'

/** What is asked for, as its audit row names it. */
type Asked = Required<Pick<AuditEvent, 'action' | 'details'>> & Pick<AuditEvent, 'subject'>

/** Who asked for what and when, by the text of what was asked for. */
type Waiting = Record<string, { readonly actor: string; readonly at: string }>

const waitMs = 86_400_000

/**
 * Does what is public and final. With `OPS_TWO_PERSONS` it is recorded first, and done when another operator asks for the same within a
 * day; throws `second-person-needed` until then. The operator that `act` is given names the first one for the audit row.
 */
export async function byTwoPersons<T>(
  { config, store, clock }: Pick<Runtime<'twoPersons'>, 'config' | 'store' | 'clock'>,
  asked: Asked,
  act: (operator: Operator) => Promise<T>,
  operator: Operator = userOfProcess(),
): Promise<T> {
  if (!config.twoPersons) return await act(operator)
  const key = JSON.stringify([asked.action, asked.subject, asked.details])
  const first = await store.transaction(async (db) => {
    await lockFacts(db)
    const waiting = await findWaiting(db, clock())
    const known = waiting[key]
    if (known && personOf(known.actor) !== personOf(operator.actor)) return known.actor
    await recordWaiting(db, { ...waiting, [key]: { actor: operator.actor, at: clock().toISOString() } }, clock())
    const { action, subject, details } = asked
    await auditOperator(
      { clock },
      db,
      { action: 'second-person-asked', subject, details: { ...details, for: action } },
      operator,
    )
    return undefined
  })
  if (first === undefined) {
    throw new ServiceError(
      'second-person-needed',
      `${asked.action} of ${asked.subject ?? 'the store'} is asked for by ${personOf(operator.actor)}: it is done when another operator asks for the same within a day (OPS_TWO_PERSONS)`,
    )
  }
  const comment = [operator.comment, `asked for by ${personOf(first)}`].filter((one) => one !== undefined).join('; ')
  const result = await act({ ...operator, comment })
  await store.transaction(async (db) => {
    await lockFacts(db)
    const { [key]: _done, ...others } = await findWaiting(db, clock())
    await recordWaiting(db, others, clock())
  })
  return result
}

type Db = Runtime['store']['db']

async function findWaiting(db: Db, now: Date): Promise<Waiting> {
  const all = JSON.parse((await findFact(db, 'second-person')) ?? '{}') as Waiting
  return Object.fromEntries(Object.entries(all).filter(([, { at }]) => now.getTime() - Date.parse(at) < waitMs))
}

async function recordWaiting(db: Db, waiting: Waiting, at: Date): Promise<void> {
  await recordFact(db, 'second-person', JSON.stringify(waiting), at)
}

/** `operator ana` of `operator ana (console)`: the same person by a command and in the console. */
function personOf(actor: string): string {
  return actor.replace(/ \(console\)$/, '')
}
