import { fieldsOfElement, projectField } from '../../catalogue/import/fields-of-element.js'
import { mappingNotices } from '../../iati/mapping/notices.js'
import { validationNotices } from '../../iati/validation/index.js'
import { lookupTable } from '../../kernel/lookup-table.js'
import type { Notice } from '../../kernel/notice.js'
import type { Db } from '../../platform/database/connection.js'
import { findHeldRendering, type HeldFilter, type HeldRow, heldRenderings } from '../../release/sql/renderings.js'

/** A project that is not published as it is, with the errors that hold it. */
export type HeldProject = {
  readonly projectId: number
  readonly identifier: string
  /** Whether an earlier valid text stays published. */
  readonly stillPublished: boolean
  /** Unknown where it was held before the service noted it. */
  readonly since?: Date
  readonly notices: readonly {
    readonly code: string
    /** The rule that is broken, in plain English. */
    readonly rule: string
    readonly path: string
    /** What was expected and what came. */
    readonly detail: string
    /** Imported fields that the place is written from; [] when it comes from none. */
    readonly fields: readonly string[]
    /** The place in another publisher's file that the element came from: the file and the line. */
    readonly from?: { readonly file: string; readonly line?: number }
  }[]
}

type Origin = HeldProject['notices'][number]['from']

/** How many projects are held, and the first `limit` of those that a filter asks for with the reasons. */
export async function listHeldProjects(
  db: Db,
  limit: number,
  filter?: HeldFilter,
): Promise<{ readonly count: number; readonly projects: readonly HeldProject[] }> {
  const { count, sample } = await heldRenderings(db, limit, filter)
  return { count, projects: sample.map(explain) }
}

/** Why a project is held; undefined when it is not. */
export async function findHeldProject(db: Db, projectId: number): Promise<HeldProject | undefined> {
  const row = await findHeldRendering(db, projectId)
  return row && explain(row)
}

const rules = lookupTable<{ readonly sentence: string }>({ ...mappingNotices, ...validationNotices })

/** The rule behind the code of a notice, in plain English; undefined for a code that is none. */
export function ruleOf(code: string): string | undefined {
  return rules[code]?.sentence
}

function explain({ notices, file, line: first, ...held }: HeldRow): HeldProject {
  const errors = notices.filter(({ severity }) => severity === 'error')
  return {
    ...held,
    notices: errors.map((notice) => {
      // What came from a file has its line; what the file lacks is missing in the activity.
      const line = notice.line ?? (/^\/iati-activity(\/@.*)?$/.test(notice.path) ? first : undefined)
      const isMoved = file !== undefined && line !== undefined
      return { ...toReason(notice), ...(isMoved && { from: { file, line } }) }
    }),
  }
}

function toReason({ code, path, detail }: Notice): HeldProject['notices'][number] {
  // A notice about a missing element names its parent; the detail names the element.
  const [, element] =
    /^\/iati-activity\/([\w-]+)/.exec(path) ?? /^expected at least \d+ ([\w-]+) in iati-activity\b/.exec(detail) ?? []
  // The mapping names the field itself.
  const fields = element === undefined ? projectField(path) : fieldsOfElement(element)
  return { code, rule: ruleOf(code) ?? '', path, detail, fields }
}

/** What to do about an error, in one sentence. */
export function fixOf({
  fields,
  from,
}: Pick<HeldProject['notices'][number], 'fields'> & { readonly from?: Origin }): string {
  if (from) {
    const place = from.line === undefined ? from.file : `${from.file}, line ${from.line}`
    return `Correct it in ${place}, run giving import --kind iati with the file, then giving publish.`
  }
  if (fields.length > 0)
    return `Correct ${fields.join(', ')}, as giving import names these fields, then run giving publish.`
  return 'No imported field is written there: look at the configuration with giving doctor, then run giving publish.'
}
