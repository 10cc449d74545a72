import type { Organisation } from '../../domain/project.js'
import { countryRecord } from './country.js'
import { themeRecord } from './theme.js'
import { integer, record, string, type WireRecord, wireText, wrapper } from './wire.js'

/** As `projectRecordVersion`, for organisations. Raise both when this record changes: projects embed it. */
export const organizationRecordVersion = 1

/** What is kept of an organisation's version for later reads. */
export function organizationTexts({ organisation, version }: { organisation: Organisation; version: number }) {
  return { id: organisation.id, version, ...wireText('organization', organizationRecord(organisation)) }
}

/** The organisation record (wire.md 3.3), embedded and stand-alone; the wire format spells it with z. */
export function organizationRecord(organisation: Organisation): WireRecord {
  return record([
    ['id', integer(organisation.id)],
    ['bridgeId', organisation.bridgeId === undefined ? undefined : integer(organisation.bridgeId)],
    ['name', string(organisation.name)],
    ['ein', organisation.ein === undefined ? undefined : string(organisation.ein)],
    ['addressLine1', organisation.addressLine1 === undefined ? undefined : string(organisation.addressLine1)],
    // Empty rather than left out in every capture.
    ['addressLine2', string(organisation.addressLine2 ?? '')],
    ['city', string(organisation.city ?? '')],
    ['state', string(organisation.state ?? '')],
    ['postal', string(organisation.postal ?? '')],
    ['iso3166CountryCode', string(organisation.countryCode ?? '')],
    ['url', string(organisation.url ?? '')],
    ['logoUrl', string(organisation.logoUrl ?? '')],
    ['mission', string(organisation.mission ?? '')],
    ['totalProjects', integer(organisation.totalProjects)],
    ['activeProjects', integer(organisation.activeProjects)],
    ['themes', wrapper('theme', organisation.themes.map(themeRecord))],
    ['countries', wrapper('country', organisation.countries.map(countryRecord))],
    ['country', string(organisation.countryName ?? '')],
  ])
}
