import { ServiceError } from '../../domain/errors.js'
import { isTimedOut } from '../../store/database/connection.js'
import { searchProjects } from '../../store/ready-texts/project-search.js'
import type { ProjectView, WireFormat } from '../../store/ready-texts/ready-texts.js'
import { joinRecords } from '../../wire/write/list.js'
import { projectRecordVersion } from '../../wire/write/project.js'
import type { ApiDeps } from '../deps.js'
import { invalidParameter, missingParameter } from '../query.js'
import type { SearchResult } from '../representations/search.js'
import { projectTextsOf } from './ready-texts.js'

export type SearchFilter = { readonly name: 'theme' | 'country'; readonly value: string }

/**
 * The filters in a text such as `country:IN,theme=edu`, with either sign and the name in any letter case; empty entries and
 * other names are skipped (wire.md 5.1).
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

// More than people type; each word costs the database time.
const mostWords = 32
const mostCharacters = 500

/**
 * Active projects that have the words, best first; the work ends when `signal` is aborted. Throws `request-invalid` when
 * `q` is missing or too long, and `server-busy` when the search takes too long.
 */
export async function search(
  { store, searches }: ApiDeps,
  signal: AbortSignal,
  input: SearchInput,
): Promise<SearchResult> {
  const { filters, start, limit, view, format } = input
  const q = searchableText(input.q)
  const valuesOf = (name: SearchFilter['name']) =>
    filters.filter((filter) => filter.name === name).map((filter) => filter.value)
  const text = { view, format, recordVersion: projectRecordVersion }
  const wanted = {
    ...{ start, limit, text },
    words: q === '*' ? undefined : q,
    themeIds: valuesOf('theme'),
    countryCodes: valuesOf('country').map((code) => code.toUpperCase()),
  }
  const { rows, numberFound } = await searches
    .abortable(signal, (db) => searchProjects(db, wanted))
    .catch((cause: unknown) => {
      if (!isTimedOut(cause)) throw cause
      throw new ServiceError('server-busy', 'this search takes too long: search for fewer or rarer words', { cause })
    })
  const records = joinRecords(format, await projectTextsOf(store, text, rows))
  return { filters, q, start, summary: view === 'summary', records, numberFound }
}

function searchableText(q: string | undefined): string {
  if (q === undefined) throw missingParameter('q', 'words to search for, or *')
  const words = q.match(/[\p{L}\p{N}]+/gu)?.length ?? 0
  if (words > mostWords || q.length > mostCharacters) {
    throw invalidParameter(
      'q',
      `at most ${mostWords} words and ${mostCharacters} characters`,
      `${words} words and ${q.length} characters`,
    )
  }
  return q
}
