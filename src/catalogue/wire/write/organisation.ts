import { organisationFields } from '../../../kernel/nouns/organisation.js'
import type { Organisation } from '../../../kernel/project.js'
import { countryRecord } from './country.js'
import { wireFields } from './fields.js'
import { themeRecord } from './theme.js'
import { integer, object, toJson, toXml, type WireObject, wrapper } from './wire-value.js'

/** As `projectRecordVersion`; raise both when the organisation record changes. */
export const organisationRecordVersion = 3

const fields = wireFields<Organisation>(organisationFields, (organisation) => organisation, {
  totalProjects: ({ totalProjects }) => integer(totalProjects),
  activeProjects: ({ activeProjects }) => integer(activeProjects),
  themes: ({ themes }) => wrapper('theme', themes.map(themeRecord)),
  countries: ({ countries }) => wrapper('country', countries.map(countryRecord)),
})

/** The organisation record (wire.md 3.3), embedded and stand-alone; the wire format spells it with z. */
export function organisationRecord(organisation: Organisation): WireObject {
  return object(fields.map(({ name, valueIn }) => [name, valueIn(organisation)]))
}

/** The texts of an organisation's version that are stored for later reads. */
export function organisationTexts({ organisation, version }: { organisation: Organisation; version: number }) {
  const record = organisationRecord(organisation)
  return { id: organisation.id, version, xml: toXml('organization', record), json: toJson(record) }
}
