import { organisationFields } from '../../../kernel/nouns/organisation.js'
import type { OrganisationRecord } from '../../../kernel/record.js'
import type { Db } from '../../../platform/database/connection.js'
import { organisationVersions, saveOrganisationDetails } from '../../sql/organisation-details.js'
import { organisationSources, saveOrganisationRecords } from '../../sql/organisations.js'
import { findThemeIds } from '../../sql/theme-lookup.js'
import { countryNameOf } from '../country-names.js'
import type { RowOf } from '../fields.js'
import { defineKind, type ImportSaving, type RecordOutcome } from '../kind.js'
import { fieldsInFiles, statedIn } from '../noun-fields.js'
import { unknownTheme } from '../unknown-theme.js'

const organisationKindFields = fieldsInFiles(organisationFields, 'organisation')

export type OrganisationRow = RowOf<typeof organisationKindFields>

export const organisations = defineKind({
  name: 'organizations',
  means: 'Organisations that carry projects out.',
  fields: organisationKindFields,
  key: ['id'],
  repeated: 'last',
  save: async (db, rows, saving) => {
    const themeIds = await findThemeIds(
      db,
      rows.flatMap(({ themes = [] }) => themes),
      saving.source,
    )
    const unknown = new Map<number, RecordOutcome>()
    const records = rows.flatMap((row) => {
      const theme = row.themes?.find((one) => !themeIds.has(one))
      if (theme === undefined) return organisationRecordOf(row, themeIds)
      unknown.set(row.id, unknownTheme(theme))
      return []
    })
    const details = new Map(rows.map((row) => [row.id, row]))
    const outcomes = await importOrganisations(db, records, saving, details)
    return rows.map(({ id }) => unknown.get(id) ?? outcomes.get(id) ?? 'unchanged')
  },
})

/** Writes organisations and what only the operator says of them; returns the outcome of each by id. */
export async function importOrganisations(
  db: Db,
  records: readonly OrganisationRecord[],
  { source }: ImportSaving,
  details: ReadonlyMap<number, { readonly vetted?: boolean | undefined }> = new Map(),
): Promise<Map<number, RecordOutcome>> {
  const ids = records.map(({ id }) => id)
  const before = await organisationVersions(db, ids)
  const owners = await organisationSources(db, ids)
  const foreign = new Set(await saveOrganisationRecords(db, records, source))
  const own = records.filter(({ id }) => !foreign.has(id))
  await saveOrganisationDetails(
    db,
    own.map(({ id, publication }) => ({
      id,
      orgRef: publication?.ref,
      orgType: publication?.type,
      language: publication?.language,
      texts: publication?.texts,
      vetted: details.get(id)?.vetted,
    })),
  )
  const after = await organisationVersions(db, ids)
  const outcomes = new Map<number, RecordOutcome>()
  for (const id of ids) {
    if (foreign.has(id)) {
      const got = `organisation ${id}, which is ${owners.get(id)}`
      outcomes.set(id, { field: 'id', expected: `an id that is new or from ${source}`, got })
    } else if (!before.has(id)) outcomes.set(id, 'created')
    else outcomes.set(id, before.get(id) === after.get(id) ? 'unchanged' : 'changed')
  }
  return outcomes
}

/** The record that a row is. */
export function organisationRecordOf(row: OrganisationRow, themeIds: ReadonlyMap<string, string>): OrganisationRecord {
  const { orgRef, orgType, language, texts, country, themes = [], countries = [] } = row
  const ids = [...new Set(themes.map((theme) => themeIds.get(theme) ?? theme))]
  return {
    ...statedIn(organisationFields, row),
    ...(country !== undefined && { countryName: countryNameOf(country) }),
    publication: {
      ...(orgRef !== undefined && { ref: orgRef }),
      ...(orgType !== undefined && { type: orgType }),
      ...(language !== undefined && { language }),
      ...(texts && { texts }),
    },
    // The name of a stored theme stays: a name equal to the id changes nothing.
    themes: ids.map((id) => ({ id, name: id })),
    countries: [...new Set(countries)].map((code) => ({ code, name: countryNameOf(code) })),
  }
}
