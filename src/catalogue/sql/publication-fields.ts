import type { FieldProblem } from '../../kernel/errors.js'
import { projectFields } from '../../kernel/nouns/project.js'
import type { HashedRecord, SaveOptions } from '../../kernel/record.js'
import { ofEach } from '../../kernel/rows.js'
import { asSubselect } from '../../platform/database/as-subselect.js'
import type { Db } from '../../platform/database/connection.js'
import { columnsOf, createToColumns, updateStated } from './field-columns.js'
import { saveOrganisationDetails } from './organisation-details.js'
import { replaceRows } from './replace-rows.js'

/**
 * Writes what records state in their `iati` elements; what they leave out stays as it is. Lists that are there replace the
 * stored ones, payouts only those of the same source. Rows that have the values already are not touched.
 */
export async function savePublicationFields(
  db: Db,
  records: readonly HashedRecord[],
  options: SaveOptions,
): Promise<void> {
  const stated = records.flatMap(({ record: { id, publication } }) => (publication ? [{ id, ...publication }] : []))
  if (stated.length > 0) {
    await db.query(updateProjects, [JSON.stringify(stated.map((one) => ({ id: one.id, ...toColumns(one) })))])
    const ofSdgs = stated.flatMap(({ id, sdgs }) => (sdgs ? [{ id, sdgs }] : []))
    const goals = ofSdgs.flatMap(({ id, sdgs }) => sdgs.map((code) => ({ project_id: id, code })))
    await replaceRows(db, sdgRows, ofEach(ofSdgs, 'id'), goals)
    await replaceShares(
      db,
      stated.flatMap(({ id, countryShares: shares }) => (shares ? [{ id, shares }] : [])),
    )
    await replacePayouts(
      db,
      stated.flatMap(({ id, payouts }) => (payouts ? [{ id, payouts }] : [])),
      options,
    )
  }
  // The last record of an organisation counts.
  const organisations = new Map(
    records.flatMap(({ record: { organisation: o } }) => (o?.publication ? [[o.id, o.publication]] : [])),
  )
  if (organisations.size === 0) return
  await saveOrganisationDetails(
    db,
    [...organisations].map(([id, { ref, type, ...one }]) => ({ id, orgRef: ref, orgType: type, ...one })),
  )
}

/** Records with payouts whose references belong to another project, stored or earlier in the batch. */
export async function foreignPayouts(
  db: Db,
  records: readonly HashedRecord[],
): Promise<ReadonlyMap<number, FieldProblem>> {
  const wanted = records.flatMap(({ record }) =>
    (record.publication?.payouts ?? []).map(({ reference }) => ({ id: record.id, reference })),
  )
  if (wanted.length === 0) return new Map()
  const { rows } = await db.query<{ id: number; reference: string; projectId: number }>(
    `select w.id, p.reference, p.project_id
      from json_to_recordset($1::json) as w(id bigint, reference text)
        join payout_plan p on p.reference = w.reference and p.project_id <> w.id`,
    [JSON.stringify(wanted)],
  )
  const foreign = new Map(rows.map((row) => [row.id, row]))
  const owners = new Map<string, number>()
  for (const { id, reference } of wanted) {
    const projectId = owners.get(reference) ?? id
    owners.set(reference, projectId)
    if (projectId !== id) foreign.set(id, { id, reference, projectId })
  }
  return new Map(
    [...foreign.values()].map(({ id, reference, projectId }) => {
      const got = `${reference}, which is of project ${projectId}`
      return [id, { field: 'iati/payouts/reference', expected: 'a new reference', got }]
    }),
  )
}

/** Why projects may not have the IATI identifiers that their records state, by project. */
export async function refusedIdentifiers(
  db: Db,
  records: readonly HashedRecord[],
  publisherRef: string | undefined,
): Promise<Map<number, FieldProblem>> {
  const wanted = records.flatMap(({ record: { id, publication } }) =>
    publication?.iatiIdentifier === undefined ? [] : [{ id, identifier: publication.iatiIdentifier }],
  )
  if (wanted.length === 0) return new Map()
  const { rows } = await db.query<{ id: number; identifier: string; expected: string | undefined }>(
    `select w.id, w.identifier, expected_identifier(w.id, w.identifier, $2) as expected
      from json_to_recordset($1::json) as w(id bigint, identifier text)`,
    [JSON.stringify(wanted), publisherRef ?? null],
  )
  return new Map(
    rows.flatMap(({ id, identifier, expected }) =>
      expected === undefined ? [] : [[id, { field: 'iatiIdentifier', expected, got: identifier }]],
    ),
  )
}

const sdgRows = { table: 'project_sdg', owner: 'project_id', columns: ['code'] } as const

const toColumns = createToColumns(projectFields, 'iati')

const updateProjects = updateStated('project', columnsOf(projectFields, 'iati'))

type StatedShares = { id: number; shares: readonly { code: string; share: string }[] }

async function replaceShares(db: Db, stated: readonly StatedShares[]): Promise<void> {
  if (stated.length === 0) return
  const wanted = stated.flatMap(({ id, shares }) =>
    shares.map(({ code, share }) => ({ project_id: id, country_code: code, share })),
  )
  await db.query(
    `update project_country t set share = w.share
      from project_country c
        left join json_populate_recordset(null::project_country, $1::json) w
          on w.project_id = c.project_id and w.country_code = c.country_code
      where c.project_id = any (${asSubselect('$2::bigint[]')}::bigint[]) and t.project_id = c.project_id and t.position = c.position
        and t.share is distinct from w.share`,
    [JSON.stringify(wanted), stated.map(({ id }) => id)],
  )
}

type StatedPayouts = { id: number; payouts: readonly { reference: string; plannedOn: string; amount: string }[] }

async function replacePayouts(db: Db, stated: readonly StatedPayouts[], options: SaveOptions): Promise<void> {
  if (stated.length === 0) return
  const wanted = JSON.stringify(
    stated.flatMap(({ id, payouts }) =>
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
    `delete from payout_plan p where p.project_id = any (${asSubselect('$2::bigint[]')}::bigint[]) and p.source = $3 and not exists (
       select from json_populate_recordset(null::payout_plan, $1::json) w where w.reference = p.reference)`,
    [wanted, stated.map(({ id }) => id), options.source],
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
