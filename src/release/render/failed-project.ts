import { newIdentifier } from '../../iati/mapping/activity.js'
import type { MappingConfig } from '../../iati/mapping/mapping-config.js'
import { mappingNotices } from '../../iati/mapping/notices.js'
import { parseIsoDate } from '../../kernel/dates.js'
import { parseDecimal } from '../../kernel/money.js'
import type { Notice } from '../../kernel/notice.js'
import { columnFields, kindOf } from '../../kernel/nouns/field.js'
import { projectFields } from '../../kernel/nouns/project.js'
import type { Project, ProjectGraph } from '../../kernel/project.js'
import { messageOf } from '../../kernel/system-errors.js'
import type { StaleProject } from '../sql/stale-projects.js'

/** A value that cannot be written, as a notice describes it. */
type Unusable = { readonly element: string; readonly field: string; readonly expected: string; readonly got: string }

/** The notice that holds a project whose activity could not be made: which value of which field stands in the way. */
export function renderFailed(
  stale: StaleProject,
  graph: ProjectGraph | undefined,
  config: MappingConfig,
  error: unknown,
): Notice {
  const found = graph && unusableValue(graph)
  return {
    code: 'render-failed',
    severity: mappingNotices['render-failed'].severity,
    subject: stale.identifier ?? newIdentifier(config, graph?.project ?? { id: stale.projectId }),
    path: found ? `/iati-activity/${found.element}` : '/iati-activity',
    detail: found
      ? `${found.field}: expected ${found.expected}, got ${found.got}`
      : `expected a record that an activity can be made from, got: ${messageOf(error)}`,
  }
}

/** The first value of the project that its type does not allow: plain SQL can write what no reader accepts. */
function unusableValue(graph: ProjectGraph): Unusable | undefined {
  const { project, months, disbursements, payoutPlan, reports, countries, donationOptions, photos } = graph
  const checks: (Unusable | undefined)[] = [
    ...columnFields(projectFields).map((one) => {
      const value: unknown = project[one.field as keyof Project]
      return value === undefined ? undefined : unusable(one.element ?? 'title', one.field, kindOf(one), value)
    }),
    ...months.flatMap(({ month, lastOn, amount }) => [
      unusable('transaction', 'donation_month.month', 'day', month),
      unusable('transaction', 'donation_month.last_on', 'day', lastOn),
      unusable('transaction', 'donation_month.amount', 'money', amount),
    ]),
    ...disbursements.flatMap(({ disbursedOn, amount }) => [
      unusable('transaction', 'disbursement.disbursed_on', 'day', disbursedOn),
      unusable('transaction', 'disbursement.amount', 'money', amount),
    ]),
    ...payoutPlan.flatMap(({ plannedOn, amount }) => [
      unusable('planned-disbursement', 'payout_plan.planned_on', 'day', plannedOn),
      unusable('planned-disbursement', 'payout_plan.amount', 'money', amount),
    ]),
    ...reports.flatMap(({ publishedAt, updatedAt }) => [
      unusable('result', 'progress_report.published_at', 'instant', publishedAt),
      unusable('result', 'progress_report.updated_at', 'instant', updatedAt),
    ]),
    ...countries.map(({ share }) => share && unusable('recipient-country', 'project_country.share', 'money', share)),
    ...donationOptions.map(({ amount }) => unusable('budget', 'donation_option.amount', 'money', amount)),
    ...photos.map(({ takenOn }) => takenOn && unusable('document-link', 'photo.taken_on', 'day', takenOn)),
  ].map((one) => one || undefined)
  return checks.find((one) => one !== undefined)
}

function unusable(element: string, field: string, kind: string, value: unknown): Unusable | undefined {
  const { expected, holds } = usable[kind] ?? {}
  return expected === undefined || holds?.(value) ? undefined : { element, field, expected, got: shortened(value) }
}

type Usable = { readonly expected: string; readonly holds: (value: unknown) => boolean }

const decimal: Usable = { expected: 'a decimal number', holds: (value) => parseDecimal(String(value)) !== undefined }
const integer: Usable = { expected: 'a whole number up to 2^53', holds: (value) => Number.isSafeInteger(value) }

/** What the mapping can write, by kinds of fields; it can write every value of the others. */
const usable: Readonly<Record<string, Usable>> = {
  money: decimal,
  latitude: decimal,
  longitude: decimal,
  id: integer,
  count: integer,
  day: {
    expected: 'a day from 1000-01-01 to 9999-12-31',
    holds: (value) => parseIsoDate(String(value)) !== undefined,
  },
  instant: {
    expected: 'a time from 1000-01-01 to 9999-12-31',
    holds: (value) => value instanceof Date && parseIsoDate(dayText(value)) !== undefined,
  },
}

function dayText(value: Date): string {
  return Number.isNaN(value.getTime()) ? '' : value.toISOString().slice(0, 10)
}

const longestShown = 60

function shortened(value: unknown): string {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'none that a calendar has' : value.toISOString()
  const text = String(value)
  return text.length <= longestShown ? text : `${text.slice(0, longestShown)}... (${text.length} characters)`
}
