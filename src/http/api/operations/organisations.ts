import {
  findOrganisationRow,
  type OrganisationSelection,
  selectOrganisationPage,
} from '../../../catalogue/sql/ready-texts/organisation-pages.js'
import type { WireFormat } from '../../../catalogue/sql/ready-texts/ready-texts.js'
import { joinRecords } from '../../../catalogue/wire/write/list.js'
import { organisationRecordVersion } from '../../../catalogue/wire/write/organisation.js'
import { ServiceError } from '../../../kernel/errors.js'
import type { Store } from '../../../platform/database/store.js'
import type { ListedPage } from './list-projects.js'
import { organisationTextsOf } from './ready-texts.js'
import type { Spoken } from './spoken.js'

/** Which page of which list; `nextOrgId` is an inclusive lower bound. */
export type OrganisationListInput = OrganisationSelection & {
  readonly nextOrgId: number
  readonly limit: number
  readonly format: WireFormat
}

/** Lists organisations in id order. Throws `not-found` for an unknown theme, as lists of projects do. */
export async function listOrganisations(
  store: Store,
  { nextOrgId, format, ...selection }: OrganisationListInput,
  spoken?: Spoken,
): Promise<ListedPage> {
  const wanted = { format, recordVersion: organisationRecordVersion }
  const page = await selectOrganisationPage(store.db, { ...selection, ...wanted, from: nextOrgId })
  if (!page.themeKnown) throw new ServiceError('not-found', `there is no theme ${selection.themeId?.slice(0, 64)}`)
  const records = joinRecords(format, await organisationTextsOf(store, format, page.rows, spoken))
  return { page: { records, next: page.nextOrgId }, modifiedUntil: page.modifiedUntil }
}

const largestBridgeId = 2n ** 63n - 1n

/** One organisation's record, by its id or that of an external register. Throws `not-found`. */
export async function getOrganisation(
  store: Store,
  by: { readonly id: number } | { readonly bridgeId: string },
  format: WireFormat,
  spoken?: Spoken,
): Promise<string> {
  const named = 'id' in by ? `organisation ${by.id}` : `organisation with the bridge id ${by.bridgeId.slice(0, 64)}`
  const notFound = () => new ServiceError('not-found', `there is no ${named}`)
  if ('bridgeId' in by && BigInt(by.bridgeId) > largestBridgeId) throw notFound()
  const row = await findOrganisationRow(store.db, by, { format, recordVersion: organisationRecordVersion })
  if (!row) throw notFound()
  const [text] = await organisationTextsOf(store, format, [row], spoken)
  if (text === undefined) throw notFound()
  return text
}
