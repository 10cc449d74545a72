import type { RegionCounts } from '../../../catalogue/sql/reference-lists.js'
import { themeRecord } from '../../../catalogue/wire/write/theme.js'
import {
  type Format,
  integer,
  list,
  object,
  string,
  type WireObject,
  wireDocument,
  wrapper,
} from '../../../catalogue/wire/write/wire-value.js'
import type { ThemeRecord } from '../../../kernel/record.js'

/** All themes; the root has no attributes (wire.md 1.4). */
export function themesDocument(format: Format, themes: readonly ThemeRecord[]): string {
  return namedList(format, 'themes', 'theme', themes.map(themeRecord))
}

/** All themes with the ids of their projects (wire.md 8). */
export function themesWithProjectsDocument(
  format: Format,
  themes: readonly (ThemeRecord & { readonly projectIds: readonly string[] })[],
): string {
  const records = themes.map((theme) =>
    object([
      ['id', string(theme.id)],
      ['name', string(theme.name)],
      [
        'projects',
        object([
          ['project', list(theme.projectIds.map((id) => object([['id', integer(id)]])))],
          ['@numberFound', integer(theme.projectIds.length)],
        ]),
      ],
    ]),
  )
  return namedList(format, 'themes', 'theme', records)
}

/** The names of regions. */
export function regionsDocument(format: Format, names: readonly string[]): string {
  const records = names.map((name) => object([['name', string(name)]]))
  return namedList(format, 'regions', 'region', records)
}

/** Regions with their countries and how many projects each has. */
export function regionCountsDocument(format: Format, regions: readonly RegionCounts[]): string {
  const records = regions.map(({ name, countries }) =>
    object([
      ['name', string(name)],
      [
        'countries',
        wrapper(
          'country',
          countries.map((country) =>
            object([
              ['name', string(country.name)],
              ['iso3166CountryCode', string(country.code)],
              ['projectCount', integer(country.projects)],
            ]),
          ),
        ),
      ],
    ]),
  )
  return namedList(format, 'regions', 'region', records)
}

function namedList(format: Format, root: string, item: string, records: readonly WireObject[]): string {
  return wireDocument(format, root, wrapper(item, records))
}
