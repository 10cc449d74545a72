import { ServiceError } from '../../domain/errors.js'
import { searchProjects } from '../../store/ready-texts/project-search.js'
import type { ProjectView, WireFormat } from '../../store/ready-texts/ready-texts.js'
import type { Store } from '../../store/store.js'
import { projectRecordVersion } from '../../wire/write/project.js'
import type { SearchResult } from '../representations/search.js'
import { projectTextsOf } from './ready-texts.js'

export type SearchFilter = { readonly name: 'theme' | 'country'; readonly value: string }

/**
 * The filters in a text such as `country:IN,theme=edu`: both signs, in any letter case of the name; what is empty or has
 * another name is skipped (wire.md 5.1).
 */
export function parseFilters(text: string | undefined): SearchFilter[] {
  return (text ?? '').split(',').flatMap((entry): SearchFilter[] => {
    const sign = entry.search(/[:=]/)
    const name = entry.slice(0, Math.max(sign, 0)).trim().toLowerCase()
    const value = entry.slice(sign + 1).trim()
    return (name === 'theme' || name === 'country') && value !== '' ? [{ name, value }] : []
  })
}

export type SearchInput = {
  readonly q: string | undefined
  readonly filters: readonly SearchFilter[]
  readonly start: number
  readonly limit: number
  readonly view: ProjectView
  readonly format: WireFormat
}

/** Active projects that have the words, best first. Throws `request-invalid` without `q`. */
export async function search(store: Store, input: SearchInput): Promise<SearchResult> {
  const { q, filters, start, limit, view, format } = input
  if (q === undefined) {
    const expected = 'words to search for, or *'
    throw new ServiceError('request-invalid', `the query parameter q is missing: expected ${expected}`, {
      problems: [{ field: 'q', expected }],
    })
  }
  const valuesOf = (name: SearchFilter['name']) =>
    filters.filter((filter) => filter.name === name).map((filter) => filter.value)
  const text = { view, format, recordVersion: projectRecordVersion }
  const { rows, numberFound } = await searchProjects(store.db, {
    ...{ start, limit, text },
    words: q === '*' ? undefined : q,
    themeIds: valuesOf('theme'),
    countryCodes: valuesOf('country').map((code) => code.toUpperCase()),
  })
  const records = await projectTextsOf(store, text, rows)
  return { filters, q, start, summary: view === 'summary', records, numberFound }
}
