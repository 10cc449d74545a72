import type { Db } from '../../platform/database/connection.js'

/** `due -> done`, or `failed` after too many tries; `ignored`: there was nothing to do. */
export type WebhookState = 'due' | 'done' | 'ignored' | 'failed'

/** What a payment processor has sent. */
export type StoredWebhook = {
  readonly gateway: string
  readonly eventId: string
  readonly kind: string
  readonly chargeId?: string | undefined
  readonly reference?: string | undefined
  readonly at: Date
  readonly receivedAt: Date
  readonly state: WebhookState
  readonly outcome?: string | undefined
}

/** Stores an event, durably; false: it is known already. */
export async function recordWebhook(db: Db, event: StoredWebhook): Promise<boolean> {
  const { gateway, eventId, kind, chargeId, reference, at, receivedAt, state, outcome } = event
  const { rowCount } = await db.query(
    `insert into webhook_event (gateway, event_id, kind, charge_id, reference, occurred_at, received_at, next_at, state,
        outcome)
      values ($1, $2, $3, $4, $5, $6, $7, $7, $8, $9) on conflict (gateway, event_id) do nothing`,
    [gateway, eventId, kind, chargeId ?? null, reference ?? null, at, receivedAt, state, outcome ?? null],
  )
  return rowCount > 0
}

/** A charge with events that are to be handled. */
export type DueCharge = {
  readonly chargeId: string
  /** The newest event so far: the charge's state from now on has all of them in it. */
  readonly upTo: number
  /** How often the event was tried, this time included. */
  readonly tries: number
}

/** Claims the charge whose event is due longest by postponing it; when this process dies, another takes it up. */
export async function claimDueCharge(
  db: Db,
  { gateway, now, longestWaitMs }: { readonly gateway: string; readonly now: Date; readonly longestWaitMs: number },
): Promise<DueCharge | undefined> {
  const { rows } = await db.query<DueCharge>(
    `with due as (
        select id from webhook_event where state = 'due' and next_at <= $2 and gateway = $1
        order by next_at, id limit 1 for update skip locked)
      update webhook_event e set tries = e.tries + 1,
        next_at = $2::timestamptz + least(60000 * power(2, e.tries), $3) * interval '1 ms'
      from due where e.id = due.id
      returning e.charge_id, e.tries, (select max(n.id) from webhook_event n where n.gateway = $1
        and n.charge_id = e.charge_id) as up_to`,
    [gateway, now, longestWaitMs],
  )
  return rows[0]
}

/** Whether the processor has sent anything, as far back as events are kept. */
export async function hasWebhooks(db: Db, gateway: string): Promise<boolean> {
  const { rowCount } = await db.query('select from webhook_event where gateway = $1 limit 1', [gateway])
  return rowCount > 0
}

/** The newest event of a charge; 0: it has none. */
export async function newestWebhook(
  db: Db,
  { gateway, chargeId }: { readonly gateway: string; readonly chargeId: string },
): Promise<number> {
  const { rows } = await db.query<{ id: number }>(
    'select coalesce(max(id), 0) as id from webhook_event where gateway = $1 and charge_id = $2',
    [gateway, chargeId],
  )
  return rows[0]?.id ?? 0
}

/** Records how all events of a charge up to one ended. */
export async function closeWebhooks(
  db: Db,
  { gateway, chargeId, upTo }: { readonly gateway: string; readonly chargeId: string; readonly upTo: number },
  { state, outcome }: Pick<StoredWebhook, 'outcome'> & { readonly state: 'done' | 'failed' },
): Promise<void> {
  await db.query(
    `update webhook_event set state = $4, outcome = $5
      where gateway = $1 and charge_id = $2 and id <= $3 and state in ('due', 'failed')`,
    [gateway, chargeId, upTo, state, outcome ?? null],
  )
}

/** Says why a claimed event is not handled yet. */
export async function noteWebhook(
  db: Db,
  { gateway, chargeId }: { readonly gateway: string; readonly chargeId: string },
  outcome: string,
): Promise<void> {
  await db.query(
    `update webhook_event set outcome = $3 where gateway = $1 and charge_id = $2 and state = 'due' and tries > 0`,
    [gateway, chargeId, outcome],
  )
}

/** The newest events, newest first. */
export async function listWebhooks(
  db: Db,
  { state, limit }: { readonly state: WebhookState | undefined; readonly limit: number },
): Promise<StoredWebhook[]> {
  const { rows } = await db.query<StoredWebhook>(
    `select gateway, event_id, kind, charge_id, reference, occurred_at as at,
        received_at, state, outcome
      from webhook_event where $1::text is null or state = $1 order by id desc limit $2`,
    [state ?? null, limit],
  )
  return rows
}

/** How many events were given up, and how many were about charges of no donation here. */
export async function countWebhookTroubles(db: Db): Promise<{ readonly failed: number; readonly unknown: number }> {
  const { rows } = await db.query<{ failed: number; unknown: number }>(
    `select count(*) filter (where state = 'failed') as failed,
        count(*) filter (where state = 'done' and outcome = 'unknown') as unknown
      from webhook_event where state = 'failed' or outcome = 'unknown'`,
  )
  return rows[0] ?? { failed: 0, unknown: 0 }
}
