import { hitsFrom, type ProjectHits } from '../../../catalogue/sql/ready-texts/project-hits.js'
import { selectHits } from '../../../catalogue/sql/ready-texts/project-search.js'
import type { ProjectView, WireFormat } from '../../../catalogue/sql/ready-texts/ready-texts.js'
import { projectRecordVersion } from '../../../catalogue/wire/write/project.js'
import { ServiceError } from '../../../kernel/errors.js'
import { isTimedOut } from '../../../platform/database/connection.js'
import { invalidParameter, missingParameter } from '../query.js'
import type { SearchResult } from '../representations/search.js'
import { createHitLists, type HitListDeps } from './hit-lists.js'
import { recordsOf } from './ready-texts.js'
import type { Spoken } from './spoken.js'

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

type SearchInput = {
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

export type Search = (
  account: number,
  signal: AbortSignal,
  input: SearchInput,
  spoken?: Spoken,
) => Promise<SearchResult>

/**
 * Searches active projects that have the words, best first; the work ends when `signal` is aborted. The hits of a search
 * are found once and remembered while nothing changes that decides on them; every page is read together with whether that
 * is so. Throws `request-invalid` when `q` is missing or too long, and `server-busy` when the search takes too long.
 */
export function createSearch(deps: HitListDeps): Search {
  const findHits = createHitLists(deps)
  const { reads } = deps
  return async (account, signal, input, spoken) => {
    const { filters, start, limit, view, format } = input
    const q = searchableText(input.q)
    const valuesOf = (name: SearchFilter['name']) =>
      filters.filter((filter) => filter.name === name).map((filter) => filter.value)
    const wanted = {
      words: q === '*' ? undefined : q,
      themeIds: valuesOf('theme'),
      countryCodes: valuesOf('country').map((code) => code.toUpperCase()),
    }
    const text = { view, format, recordVersion: projectRecordVersion }
    const read = async (outdated?: ProjectHits) => {
      const hits = await findHits(account, signal, wanted, outdated).catch(throwBusy)
      const ids = hitsFrom(hits, start, limit)
      return { hits, ids, ...(await selectHits(reads.db, ids, hits.snapshot, text)) }
    }
    let page = await read()
    if (page.changed) page = await read(page.hits)
    const spokenTexts = await spoken?.projects(reads.db, page.ids)
    const ready = spokenTexts && spokenTexts.size > 0 ? undefined : page.body
    const records = ready ?? (await recordsOf(reads, text, page.ids, spoken))
    return { filters, q, start, summary: view === 'summary', records, numberFound: page.hits.ids.length }
  }
}

function throwBusy(cause: unknown): never {
  if (!isTimedOut(cause)) throw cause
  throw new ServiceError('server-busy', 'this search takes too long: search for fewer or rarer words', { cause })
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
