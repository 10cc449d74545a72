import type { HashedRecord, WriteOptions } from '../../domain/record.js'
import type { Db } from '../database/connection.js'

/**
 * Writes what records say beyond the wire format (their `iati` elements); what they leave out stays as it is. Lists that
 * are there replace the stored ones, payouts only those of the same source. Touches no row that has the values already.
 */
export async function writePublicationFields(
  db: Db,
  records: readonly HashedRecord[],
  options: WriteOptions,
): Promise<void> {
  const told = records.flatMap(({ record }) => (record.publication ? [{ id: record.id, ...record.publication }] : []))
  if (told.length > 0) {
    await updateProjects(db, told)
    await replaceSdgs(
      db,
      told.flatMap(({ id, sdgs }) => (sdgs ? [{ id, sdgs }] : [])),
    )
    await replacePayouts(
      db,
      told.flatMap(({ id, payouts }) => (payouts ? [{ id, payouts }] : [])),
      options,
    )
  }
  await updateOrganisations(db, records)
}

/** Payout references of these records that belong to another project, stored or earlier in the batch. */
export async function foreignPayouts(
  db: Db,
  records: readonly HashedRecord[],
): Promise<Map<number, { reference: string; projectId: number }>> {
  const wanted = records.flatMap(({ record }) =>
    (record.publication?.payouts ?? []).map(({ reference }) => ({ id: record.id, reference })),
  )
  if (wanted.length === 0) return new Map()
  const { rows } = await db.query<{ id: number; reference: string; project_id: number }>(
    `select w.id, p.reference, p.project_id
      from json_to_recordset($1::json) as w(id bigint, reference text)
        join payout_plan p on p.reference = w.reference and p.project_id <> w.id`,
    [JSON.stringify(wanted)],
  )
  const foreign = new Map(rows.map(({ id, reference, project_id: projectId }) => [id, { reference, projectId }]))
  const owners = new Map<string, number>()
  for (const { id, reference } of wanted) {
    const projectId = owners.get(reference) ?? id
    owners.set(reference, projectId)
    if (projectId !== id) foreign.set(id, { reference, projectId })
  }
  return foreign
}

async function updateProjects(db: Db, told: readonly object[]): Promise<void> {
  await db.query(
    `update project p set deadline = coalesce(w.deadline, p.deadline),
        glide_number = coalesce(w."glideNumber", p.glide_number),
        location_name = coalesce(w."locationName", p.location_name),
        location_precision = coalesce(w."locationPrecision", p.location_precision)
      from json_to_recordset($1::json)
        as w(id bigint, deadline date, "glideNumber" text, "locationName" text, "locationPrecision" text)
      where p.id = w.id and (
        coalesce(w.deadline <> p.deadline, w.deadline is not null)
        or coalesce(w."glideNumber" <> p.glide_number, w."glideNumber" is not null)
        or coalesce(w."locationName" <> p.location_name, w."locationName" is not null)
        or w."locationPrecision" <> p.location_precision)`,
    [JSON.stringify(told)],
  )
}

async function replaceSdgs(db: Db, told: readonly { id: number; sdgs: readonly string[] }[]): Promise<void> {
  if (told.length === 0) return
  const wanted = JSON.stringify(told.flatMap(({ id, sdgs }) => sdgs.map((code) => ({ project_id: id, code }))))
  await db.query(
    `delete from project_sdg s where s.project_id = any ($2::bigint[]) and not exists (
       select from json_populate_recordset(null::project_sdg, $1::json) w
       where (w.project_id, w.code) = (s.project_id, s.code))`,
    [wanted, told.map(({ id }) => id)],
  )
  await db.query(
    `insert into project_sdg select * from json_populate_recordset(null::project_sdg, $1::json) on conflict do nothing`,
    [wanted],
  )
}

type ToldPayouts = { id: number; payouts: readonly { reference: string; plannedOn: string; amount: string }[] }

async function replacePayouts(db: Db, told: readonly ToldPayouts[], options: WriteOptions): Promise<void> {
  if (told.length === 0) return
  const wanted = JSON.stringify(
    told.flatMap(({ id, payouts }) =>
      payouts.map(({ reference, plannedOn, amount }) => ({
        reference,
        project_id: id,
        planned_on: plannedOn,
        amount,
        currency: options.currency,
        source: options.source,
      })),
    ),
  )
  await db.query(
    `delete from payout_plan p where p.project_id = any ($2::bigint[]) and p.source = $3 and not exists (
       select from json_populate_recordset(null::payout_plan, $1::json) w where w.reference = p.reference)`,
    [wanted, told.map(({ id }) => id), options.source],
  )
  await db.query(
    `insert into payout_plan (reference, project_id, planned_on, amount, currency, source)
     select reference, project_id, planned_on, amount, currency, source
       from json_populate_recordset(null::payout_plan, $1::json) order by reference
     on conflict (reference) do update set planned_on = excluded.planned_on, amount = excluded.amount,
       currency = excluded.currency
     where payout_plan.project_id = excluded.project_id
       and (payout_plan.planned_on, payout_plan.amount, payout_plan.currency)
         is distinct from (excluded.planned_on, excluded.amount, excluded.currency)`,
    [wanted],
  )
}

async function updateOrganisations(db: Db, records: readonly HashedRecord[]): Promise<void> {
  const told = new Map(
    records.flatMap(({ record }) => {
      const { organisation } = record
      return organisation?.publication ? [[organisation.id, { id: organisation.id, ...organisation.publication }]] : []
    }),
  )
  if (told.size === 0) return
  await db.query(
    `update organisation o set org_ref = coalesce(w.ref, o.org_ref), org_type = coalesce(w.type, o.org_type)
      from json_to_recordset($1::json) as w(id bigint, ref text, type text)
      where o.id = w.id and (coalesce(w.ref <> o.org_ref, w.ref is not null)
        or coalesce(w.type <> o.org_type, w.type is not null))`,
    [JSON.stringify([...told.values()])],
  )
}
