/**
 * Names of the fields of a project record in the order of JSON (wire.md 3.1). One with `?` is left out when it is absent.
 * Other texts are then written empty, since clients read them without a check.
 */
export const projectNames = [
  'id',
  'organization?',
  'active',
  'title',
  'summary',
  'contactName?',
  'contactTitle?',
  'contactAddress',
  'contactAddress2?',
  'contactCity',
  'contactState',
  'contactPostal',
  'contactCountry',
  'contactUrl',
  'projectLink',
  'progressReportLink',
  'themeName',
  'country',
  'iso3166CountryCode',
  'region',
  'goal?',
  'funding',
  'remaining?',
  'numberOfDonations',
  'status',
  'need',
  'longTermImpact',
  'activities',
  'additionalDocumentation?',
  'notice?',
  'imageLink',
  'imageGallerySize?',
  'videos?',
  'longitude?',
  'latitude?',
  'approvedDate?',
  'modifiedDate?',
  'numberOfReports',
  'dateOfMostRecentReport?',
  'donationOptions?',
  'image',
  'themes',
  'countries',
  'type',
] as const

/** Fields of the summary (wire.md 3.2), which has no totals of money. */
export const summaryNames: ReadonlySet<string> = new Set([
  ...['id', 'organization', 'active', 'title', 'summary', 'themeName', 'country', 'iso3166CountryCode', 'status'],
  ...['imageLink', 'donationOptions', 'themes', 'countries', 'type'],
])

/** Names of the fields of an organisation record, as `projectNames` lists those of a project (wire.md 3.3). */
export const organisationNames = [
  'id',
  'bridgeId?',
  'name',
  'ein?',
  'addressLine1?',
  'addressLine2',
  'city',
  'state',
  'postal',
  'iso3166CountryCode',
  'url',
  'logoUrl',
  'mission',
  'totalProjects',
  'activeProjects',
  'themes',
  'countries',
  'country',
] as const

const otherNames: Readonly<Record<string, string>> = {
  countryName: 'country',
  countryCode: 'iso3166CountryCode',
  regionName: 'region',
}

/** The name in the wire format of a field of `projectFields` or `organisationFields`. */
export function wireNameOf(field: string): string {
  return otherNames[field] ?? field
}

/** The names of a list: its root, one record, and the key of its cursor. */
export type ListNames = { readonly list: string; readonly record: string; readonly cursor: string }

export const projectList: ListNames = { list: 'projects', record: 'project', cursor: 'nextProjectId' }
export const organisationList: ListNames = { list: 'organizations', record: 'organization', cursor: 'nextOrgId' }
