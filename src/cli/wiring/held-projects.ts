import { fieldsOfElement, projectField } from '../../catalogue/import/fields-of-element.js'
import type { HeldProject, HeldRule } from '../../http/console/pages/held.js'
import { mappingNotices } from '../../iati/mapping/notices.js'
import { validationNotices } from '../../iati/validation/index.js'
import { lookupTable } from '../../kernel/lookup-table.js'
import type { Notice } from '../../kernel/notice.js'
import type { Db } from '../../platform/database/connection.js'
import {
  findHeldRendering,
  type HeldFilter,
  type HeldRow,
  heldRenderings,
  heldRules,
} from '../../release/sql/renderings.js'

/** How many projects are held, and the first `limit` of those that a filter asks for with the reasons. */
export async function listHeldProjects(
  db: Db,
  limit: number,
  filter?: HeldFilter,
): Promise<{ readonly count: number; readonly projects: readonly HeldProject[] }> {
  const { count, sample } = await heldRenderings(db, limit, filter)
  return { count, projects: sample.map(explain) }
}

/** How many projects each rule holds, the most first, with the rule in plain English. */
export async function countHeldByRule(db: Db): Promise<HeldRule[]> {
  return (await heldRules(db)).map(({ code, count }) => ({ code, rule: ruleOf(code) ?? '', count }))
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
