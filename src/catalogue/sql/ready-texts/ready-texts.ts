import { listsOfEach } from '../../../kernel/rows.js'
import type { Db } from '../../../platform/database/connection.js'
import { textArray } from '../../../platform/database/text-array.js'

export type WireFormat = 'xml' | 'json'

/** Which of a project's two records: all of it, or the summary. */
export type ProjectView = 'full' | 'summary'

/** A record as an API read finds it: its ready text, or none when the stored one is missing or stale. */
export type TextRow = {
  readonly id: number
  readonly text?: string | undefined
  /** The version that the text was made from, where it was asked for. */
  readonly version?: string | undefined
}

/** A project's record, with what decides whether it may be shown. */
export type ProjectTextRow = TextRow & { readonly active: boolean }

/** Which stored text of a project a read wants; a text with another record version is stale. */
export type WantedText = { readonly view: ProjectView; readonly format: WireFormat; readonly recordVersion: number }

export type OrganisationTexts = {
  readonly id: number
  readonly version: number
  readonly xml: string
  readonly json: string
}

export type ProjectTexts = OrganisationTexts & { readonly summaryXml: string; readonly summaryJson: string }

/** The same on its way to the store, where a buffer holds UTF-8. */
export type StoredTexts = {
  readonly [Field in keyof ProjectTexts]: ProjectTexts[Field] extends string ? string | Buffer : ProjectTexts[Field]
}

/** Page size whose statements are prepared; others are rare, and planned each time. */
export const usualLimit = 10

// Whoever reads a record first waits for no disk: what a crash of the server loses is rendered again.
const withoutDisk = `with setting as (select set_config('synchronous_commit', 'off', true))`

/** SQL that stores the texts of a noun. */
function statement(noun: string, table: string, texts: readonly string[]): string {
  const columns = ['version', 'mapping', ...texts]
  return `${withoutDisk}
      insert into ${table} as t (${noun}_id, ${columns.join(', ')})
      select r.id, r.version, $1, ${texts.map((text) => `r.${text}`).join(', ')}
      from setting cross join unnest($2::bigint[], $3::bigint[], ${texts.map((_, at) => `$${at + 4}::text[]`).join(', ')})
          r (id, version, ${texts.join(', ')})
        join ${noun}_version v on v.${noun}_id = r.id and v.version = r.version
      order by r.id
      on conflict (${noun}_id) do update
        set (${columns.join(', ')}) = row (${columns.map((column) => `excluded.${column}`).join(', ')})
        where (t.version, t.mapping) is distinct from (excluded.version, excluded.mapping)`
}

const stored = {
  project: {
    sql: statement('project', 'wire_record', ['xml', 'json', 'summary_xml', 'summary_json']),
    names: ['xml', 'json', 'summaryXml', 'summaryJson'],
  },
  organisation: { sql: statement('organisation', 'organisation_record', ['xml', 'json']), names: ['xml', 'json'] },
} as const

type TextsOf = { readonly project: StoredTexts; readonly organisation: OrganisationTexts }

/** Stores records for later reads; a record of an older version of its project or organisation is left out. */
export async function saveTexts<Noun extends keyof TextsOf>(
  db: Db,
  noun: Noun,
  recordVersion: number,
  texts: readonly TextsOf[Noun][],
): Promise<void> {
  if (texts.length === 0) return
  const { sql, names } = stored[noun]
  const lists = names.map((name) => textArray(texts.map((text: Partial<StoredTexts>) => text[name] ?? null)))
  await db.query(sql, [recordVersion, ...listsOfEach(texts, 'id', 'version'), ...lists])
}

const columns = {
  full: { xml: 'xml', json: 'json' },
  summary: { xml: 'summary_xml', json: 'summary_json' },
} as const

/**
 * SQL for the current text of project `p`; `recordVersion` is SQL too. As a subquery for each row, so that a prepared plan
 * looks up the page's rows by key and never reads the whole table.
 */
export function currentProjectText({ view, format }: WantedText, recordVersion: string): string {
  return `(
      select w.${columns[view][format]} from project_version v
        join wire_record w on w.project_id = v.project_id and w.version = v.version
      where v.project_id = p.id and w.mapping = ${recordVersion}
    )`
}

/** As `currentProjectText`, with its version: at most one row of `version` and `text`, to join laterally. */
export function currentProjectRecord({ view, format }: WantedText, recordVersion: string): string {
  return `(
      select w.version::text as version, w.${columns[view][format]} as text from project_version v
        join wire_record w on w.project_id = v.project_id and w.version = v.version
      where v.project_id = p.id and w.mapping = ${recordVersion}
      offset 0
    )`
}

/** SQL for the current text of organisation `o`. */
export function currentOrganisationText(format: WireFormat, recordVersion: string): string {
  return `(
      select w.${format} from organisation_version v
        join organisation_record w on w.organisation_id = v.organisation_id and w.version = v.version
      where v.organisation_id = o.id and w.mapping = ${recordVersion}
    )`
}

/** SQL for the instant up to which this statement's snapshot shows every change; null: not known. */
export const changesKnownUntil = 'changes_known_until(pg_current_snapshot())'
