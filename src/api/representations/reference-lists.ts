import type { ThemeRecord } from '../../domain/record.js'
import type { RegionCounts } from '../../store/catalogue/reference-lists.js'
import {
  type Format,
  integer,
  list,
  record,
  string,
  type WireRecord,
  wireDocument,
  wireText,
  wrapper,
} from '../../wire/write/wire.js'

/** All themes; a client reads `id` and `name` by position and the root has no attributes (wire.md 1.4). */
export function themesDocument(format: Format, themes: readonly ThemeRecord[]): string {
  return listDocument(format, 'themes', 'theme', themes.map(themeName))
}

/** All themes with the ids of their projects (wire.md 8). */
export function themesWithProjectsDocument(
  format: Format,
  themes: readonly (ThemeRecord & { readonly projectIds: readonly string[] })[],
): string {
  const records = themes.map((theme) =>
    record([
      ['id', string(theme.id)],
      ['name', string(theme.name)],
      [
        'projects',
        record([
          ['project', list(theme.projectIds.map((id) => record([['id', integer(id)]])))],
          ['@numberFound', integer(theme.projectIds.length)],
        ]),
      ],
    ]),
  )
  return listDocument(format, 'themes', 'theme', records)
}

/** The names of regions. */
export function regionsDocument(format: Format, names: readonly string[]): string {
  const records = names.map((name) => record([['name', string(name)]]))
  return listDocument(format, 'regions', 'region', records)
}

/** Regions with their countries and how many projects each has. */
export function regionCountsDocument(format: Format, regions: readonly RegionCounts[]): string {
  const records = regions.map(({ name, countries }) =>
    record([
      ['name', string(name)],
      [
        'countries',
        wrapper(
          'country',
          countries.map((country) =>
            record([
              ['name', string(country.name)],
              ['iso3166CountryCode', string(country.code)],
              ['projectCount', integer(country.projects)],
            ]),
          ),
        ),
      ],
    ]),
  )
  return listDocument(format, 'regions', 'region', records)
}

function themeName({ id, name }: ThemeRecord): WireRecord {
  return record([
    ['id', string(id)],
    ['name', string(name)],
  ])
}

function listDocument(format: Format, root: string, item: string, records: readonly WireRecord[]): string {
  return wireDocument(format, root, wireText(root, wrapper(item, records)))
}
