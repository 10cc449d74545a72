import type { IsoDate } from '../../../kernel/dates.js'
import { columnOf, fileFieldsOf, fileNameOf, type Noun, namedFields } from '../../../kernel/nouns/field.js'
import { disbursementFields, giftFields, payoutPlanFields } from '../../../kernel/nouns/money.js'
import { organisationFields } from '../../../kernel/nouns/organisation.js'
import { photoFields } from '../../../kernel/nouns/photo.js'
import { projectFields } from '../../../kernel/nouns/project.js'
import { reportFields } from '../../../kernel/nouns/report.js'
import { themeFields } from '../../../kernel/nouns/theme.js'
import type { Db } from '../../../platform/database/connection.js'
import { publishedActivities } from './published-activities.js'
import { type ResourceSql, resourceSql, type TableResource } from './table-resource.js'

/** The columns that files state, or those of these names, by the member that they have there. */
function membersOf(noun: Noun, only?: readonly string[]): TableResource['members'] {
  const columns = fileFieldsOf(noun).filter(({ part, column }) => !part || column !== undefined)
  return Object.fromEntries(
    columns.flatMap((one) => (only?.includes(fileNameOf(one)) === false ? [] : [[fileNameOf(one), columnOf(one)]])),
  )
}

function listsOf(noun: Noun, owner: string): NonNullable<TableResource['lists']> {
  return Object.fromEntries(namedFields(noun).flatMap(({ field, list }) => (list ? [[field, { ...list, owner }]] : [])))
}

/** `donors` and `accounts` are left out of an export unless asked for. */
type Audience = 'all' | 'donors' | 'accounts'

type Declared = {
  readonly audience?: Audience
  readonly means: string
  /** An import of the whole export reads another resource instead. */
  readonly part?: boolean
} & ({ readonly rows: TableResource } | { readonly sql: ResourceSql })

const inUtc = (instant: string) => `(${instant} at time zone 'UTC')::date`

const changedOf = (table: 'project' | 'organisation', id: string) =>
  `select ${inUtc('v.changed_at')} from ${table}_version v where v.${table}_id = ${id}`

/**
 * Everything of the store that an export holds, in an order in which an import can write it. What is not here is left
 * behind: texts that are made again (renderings, records of the API, search), the ledger of runs and releases, the audit
 * trail, tokens, and counts of attempts.
 */
export const resources = {
  regions: {
    means: 'Regions of the API.',
    rows: { table: 'region', order: ['name'], members: { name: 'name' } },
  },
  countries: {
    means: 'Countries with the names that the API and IATI have for them.',
    rows: { table: 'country', order: ['code'], members: { code: 'code', name: 'name', region: 'region_name' } },
  },
  themes: {
    means: 'Themes, and the DAC sectors that they stand for.',
    rows: {
      table: 'theme',
      order: ['id'],
      members: membersOf(themeFields),
      lists: { aliases: { table: 'theme_alias', owner: 'theme_id', columns: 'name', order: ['name'], stored: true } },
    },
  },
  organizations: {
    means: 'Organisations: partners, and funders too.',
    rows: {
      table: 'organisation',
      day: changedOf('organisation', 't.id'),
      order: ['id'],
      members: membersOf(organisationFields),
      values: { bridge_id: 't.bridge_id::text' },
      extras: {
        statedAt: {
          read: '(select v.stated_at from organisation_version v where v.organisation_id = t.id)',
          type: 'timestamp with time zone',
          write: `update organisation_version v set stated_at = (r.stored ->> 'statedAt')::timestamptz from $RECORDS
            where v.organisation_id = r.id::bigint and r.stored ->> 'statedAt' is not null`,
        },
      },
      lists: listsOf(organisationFields, 'organisation_id'),
    },
  },
  funders: {
    part: true,
    means: 'Organisations that give, also among organizations.',
    rows: {
      table: 'organisation',
      day: changedOf('organisation', 't.id'),
      order: ['id'],
      where: 'exists (select from donation_month m where m.funder_id = t.id)',
      members: membersOf(organisationFields, [
        'id',
        'externalId',
        'name',
        'orgRef',
        'orgType',
        'ein',
        'country',
        'url',
      ]),
    },
  },
  projects: {
    means: 'Projects. `stored` has what no operator writes: source, day first seen, first goal, hash of the record.',
    rows: {
      table: 'project',
      day: changedOf('project', 't.id'),
      order: ['id'],
      members: membersOf(projectFields),
      lists: listsOf(projectFields, 'project_id'),
    },
  },
  'kept-activities': {
    means: 'What was published of projects before they moved here.',
    rows: {
      table: 'kept_activity',
      order: ['project_id'],
      members: {
        ...{ project: 'project_id', text: 'text', file: 'file', line: 'line' },
        ...{ ownNumber: 'own_number', formerly: 'formerly' },
      },
    },
  },
  'kept-organisations': {
    means: 'What the organisation file said before the publisher moved here.',
    rows: {
      table: 'kept_organisation',
      order: ['identifier'],
      members: { identifier: 'identifier', text: 'text', file: 'file', line: 'line' },
    },
  },
  images: {
    means: 'Pictures of projects; position 0 is the main one.',
    rows: {
      table: 'photo',
      day: changedOf('project', 't.project_id'),
      order: ['project_id', 'position'],
      members: membersOf(photoFields),
    },
  },
  reports: {
    means: 'Progress reports with their pictures.',
    rows: {
      table: 'progress_report',
      day: inUtc('t.updated_at'),
      order: ['id'],
      members: membersOf(reportFields),
      lists: listsOf(reportFields, 'report_id'),
    },
  },
  'report-places': {
    means: 'The place of each report in the archives of reports; it never changes.',
    rows: { table: 'report_place', order: ['place'], members: { report: 'report_id', place: 'place' } },
  },
  gifts: {
    means: 'Money by month, kind and funder: gifts, refunds, fees, and totals from before.',
    rows: {
      table: 'donation_month',
      day: 't.last_on',
      order: ['project_id', 'month', 'currency collate "C"', 'kind collate "C"', 'source', 'funder_id'],
      members: membersOf(giftFields),
    },
  },
  'gift-references': {
    means: 'Hashes of the references of imported gifts, so that none counts twice.',
    rows: {
      table: 'imported_gift',
      order: ['project_id', 'reference_hash'],
      members: { project: 'project_id', referenceHash: 'reference_hash', contentHash: 'content_hash' },
      left: { import_id: undefined },
    },
  },
  'gift-months': {
    means: 'Whether an imported month is of single gifts or was stated as a sum.',
    rows: {
      table: 'imported_month',
      order: ['project_id', 'month', 'kind collate "C"', 'funder_id'],
      members: { project: 'project_id', month: 'month', kind: 'kind', funder: 'funder_id' },
    },
  },
  disbursements: {
    means: 'Payouts that were made.',
    rows: {
      table: 'disbursement',
      day: 't.disbursed_on',
      order: ['project_id', 'disbursed_on', 'reference collate "C"'],
      members: membersOf(disbursementFields),
      left: { id: undefined },
    },
  },
  'payout-plans': {
    means: 'Payouts that are agreed on.',
    rows: {
      table: 'payout_plan',
      day: 't.planned_on',
      order: ['project_id', 'planned_on', 'reference collate "C"'],
      members: membersOf(payoutPlanFields),
    },
  },
  activities: {
    means: 'What was published of each project: its identifier and file for ever, and when its text last changed.',
    sql: publishedActivities,
  },
  upstream: {
    means: 'Which projects an upstream offers, and what was fetched of them.',
    rows: {
      table: 'upstream_project',
      order: ['project_id'],
      members: { project: 'project_id' },
      left: { since_run_id: '0', seen_run_id: '0' },
    },
  },
  accounts: {
    audience: 'accounts',
    means: 'API users with the hashes of their passwords and keys, and what they may do.',
    rows: {
      table: 'account',
      order: ['id'],
      members: { id: 'id', email: 'email' },
      lists: {
        grants: {
          ...{ table: 'account_grant', owner: 'account_id', order: ['operation'] },
          columns: { operation: 'operation', grantedAt: 'granted_at' },
        },
        keys: {
          ...{ table: 'api_key', owner: 'account_id', order: ['id'] },
          columns: {
            ...{ id: 'id', keyHash: 'key_hash', createdAt: 'created_at', revokedAt: 'revoked_at' },
            ...{ scope: 'scope', origins: 'origins', expiresAt: 'expires_at', lastUsedAt: 'last_used_at' },
          },
        },
      },
    },
  },
  donations: {
    audience: 'donors',
    means: 'Single donations, what happened to each, and who gave.',
    rows: {
      table: 'donation',
      order: ['id'],
      members: { id: 'id', project: 'project_id', funder: 'funder_id', amount: 'amount', currency: 'currency' },
      lists: {
        events: {
          ...{ table: 'donation_event', owner: 'donation_id', order: ['id'] },
          columns: { id: 'id', kind: 'kind', at: 'at', details: 'details' },
        },
        refunds: {
          ...{ table: 'donation_refund', owner: 'donation_id', order: ['id'] },
          columns: {
            ...{ id: 'id', reference: 'reference', kind: 'kind', amount: 'amount', addon: 'addon' },
            settledAmount: 'settled_amount',
            requestedAt: 'requested_at',
            leaseUntil: 'lease_until',
            doneAt: 'done_at',
          },
        },
        donor: {
          ...{ table: 'donor', owner: 'donation_id', order: ['donation_id'] },
          columns: {
            ...{ email: 'email', details: 'details', keyId: 'key_id', wrappedKey: 'wrapped_key', sealed: 'sealed' },
            ...{ emailHash: 'email_hash', payloadSalt: 'payload_salt', payloadHash: 'payload_hash' },
          },
        },
      },
    },
  },
  'sandbox-charges': {
    audience: 'donors',
    means: 'Charges in the books of the sandbox gateway.',
    rows: { table: 'sandbox_charge', order: ['id'], members: { id: 'id', reference: 'reference' } },
  },
  'sandbox-refunds': {
    audience: 'donors',
    means: 'Refunds in the books of the sandbox gateway.',
    rows: {
      table: 'sandbox_refund',
      order: ['id'],
      members: { id: 'id', reference: 'reference', charge: 'charge_id' },
    },
  },
} as const satisfies Readonly<Record<string, Declared>>

export type ResourceName = keyof typeof resources

export const resourceNames = Object.keys(resources) as readonly ResourceName[]

/** Who an export may contain, and from which day on. */
export type Asked = { readonly donors: boolean; readonly accounts: boolean; readonly since?: IsoDate | undefined }

/** Names of the resources that an export has, in the order in which an import writes them. */
export function namesFor(asked: Asked): ResourceName[] {
  return resourceNames.filter((name) => {
    const { audience = 'all' }: Declared = resources[name]
    return audience === 'all' || asked[audience]
  })
}

/** The records that an export can have alone. */
export const exportKinds = resourceNames.filter((name) => !isPrivate(name))

/** Whether a file of the resource is for the operator's eyes only. */
export function isPrivate(name: ResourceName): boolean {
  const { audience = 'all' }: Declared = resources[name]
  return audience !== 'all'
}

/** Whether an import of an export writes the resource. */
export function isWritten(name: ResourceName): boolean {
  const { part = false }: Declared = resources[name]
  return !part
}

/** The table whose rows are the records of the resource; undefined for one of several tables. */
export function tableOf(name: ResourceName): string | undefined {
  const declared: Declared = resources[name]
  return 'rows' in declared ? declared.rows.table : undefined
}

/** How a resource is read and written. Without donors no month is marked as made of donations; without accounts no donation names a key. */
export async function sqlOf(db: Db, name: ResourceName, asked: Asked): Promise<ResourceSql> {
  const declared: Declared = resources[name]
  if ('sql' in declared) return declared.sql
  const values = {
    ...(name === 'gifts' && !asked.donors && { itemised: '0::numeric' }),
    ...(name === 'donations' && !asked.accounts && { api_key_id: 'null::bigint' }),
  }
  return await resourceSql(db, { ...declared.rows, values: { ...declared.rows.values, ...values } }, asked.since)
}
