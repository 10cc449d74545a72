import { type Format, wireDocument } from '../../wire/write/wire.js'

/** A page of organisations whose records are already texts in the wanted format. */
export type OrganizationPage = {
  readonly records: readonly string[]
  /** First id of the next page; absent on the last one. */
  readonly nextOrgId?: number | undefined
}

/** The list of organisations: like that of projects, but without `numberFound` (wire.md 7). */
export function organizationListDocument(format: Format, { records, nextOrgId }: OrganizationPage): string {
  const next =
    nextOrgId === undefined
      ? { xml: '', json: [] }
      : {
          xml: `<hasNext>true</hasNext><nextOrgId>${nextOrgId}</nextOrgId>`,
          json: [`"hasNext":true,"nextOrgId":${nextOrgId}`],
        }
  const organizations = records.length === 0 ? [] : [`"organization":[${records.join(',')}]`]
  return wireDocument(format, 'organizations', {
    xml: `<organizations>${next.xml}${records.join('')}</organizations>`,
    json: `{${[...next.json, ...organizations].join(',')}}`,
  })
}

/** One organisation's document, from its ready text. */
export function organizationDocument(format: Format, text: string): string {
  return wireDocument(format, 'organization', { xml: text, json: text })
}
