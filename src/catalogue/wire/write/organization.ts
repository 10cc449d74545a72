import { type Organisation, organisationFields } from '../../../kernel/project.js'
import { organizationNames } from '../names.js'
import { countryRecord } from './country.js'
import { wireFields } from './fields.js'
import { themeRecord } from './theme.js'
import { integer, object, toJson, toXml, type WireObject, wrapper } from './wire-value.js'

/** As `projectRecordVersion`; raise both when the organisation record changes. */
export const organizationRecordVersion = 1

const fields = wireFields<Organisation>(organizationNames, organisationFields, (organisation) => organisation, {
  totalProjects: ({ totalProjects }) => integer(totalProjects),
  activeProjects: ({ activeProjects }) => integer(activeProjects),
  themes: ({ themes }) => wrapper('theme', themes.map(themeRecord)),
  countries: ({ countries }) => wrapper('country', countries.map(countryRecord)),
})

/** The organisation record (wire.md 3.3), embedded and stand-alone; the wire format spells it with z. */
export function organizationRecord(organisation: Organisation): WireObject {
  return object(fields.map(({ name, valueIn }) => [name, valueIn(organisation)]))
}

/** The texts of an organisation's version that are stored for later reads. */
export function organizationTexts({ organisation, version }: { organisation: Organisation; version: number }) {
  const record = organizationRecord(organisation)
  return { id: organisation.id, version, xml: toXml('organization', record), json: toJson(record) }
}
