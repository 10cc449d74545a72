import { newIdentifier } from '../../iati/mapping/activity.js'
import type { MappingConfig } from '../../iati/mapping/mapping-config.js'
import { mappingNotices } from '../../iati/mapping/notices.js'
import { parseIsoDate } from '../../kernel/dates.js'
import { parseDecimal } from '../../kernel/money.js'
import type { Notice } from '../../kernel/notice.js'
import { type ProjectGraph, projectFields } from '../../kernel/project.js'
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
    ...projectFields.map(([name, kind]) => {
      const value: unknown = project[name]
      return value === undefined ? undefined : unusable(elements[name] ?? 'title', name, kind.replace('?', ''), value)
    }),
    ...months.flatMap(({ month, lastOn, amount }) => [
      unusable('transaction', 'donation_month.month', 'day', month),
      unusable('transaction', 'donation_month.last_on', 'day', lastOn),
      unusable('transaction', 'donation_month.amount', 'decimal', amount),
    ]),
    ...disbursements.flatMap(({ disbursedOn, amount }) => [
      unusable('transaction', 'disbursement.disbursed_on', 'day', disbursedOn),
      unusable('transaction', 'disbursement.amount', 'decimal', amount),
    ]),
    ...payoutPlan.flatMap(({ plannedOn, amount }) => [
      unusable('planned-disbursement', 'payout_plan.planned_on', 'day', plannedOn),
      unusable('planned-disbursement', 'payout_plan.amount', 'decimal', amount),
    ]),
    ...reports.flatMap(({ publishedAt, updatedAt }) => [
      unusable('result', 'progress_report.published_at', 'instant', publishedAt),
      unusable('result', 'progress_report.updated_at', 'instant', updatedAt),
    ]),
    ...countries.map(({ share }) => share && unusable('recipient-country', 'project_country.share', 'decimal', share)),
    ...donationOptions.map(({ amount }) => unusable('budget', 'donation_option.amount', 'decimal', amount)),
    ...photos.map(({ takenOn }) => takenOn && unusable('document-link', 'photo.taken_on', 'day', takenOn)),
  ].map((one) => one || undefined)
  return checks.find((one) => one !== undefined)
}

/** The element that is made from a field, where it is not a text. */
const elements: Readonly<Record<string, string>> = {
  goal: 'budget',
  originalGoal: 'budget',
  funding: 'budget',
  remaining: 'budget',
  latitude: 'location',
  longitude: 'location',
  approvedDate: 'activity-date',
  modifiedDate: 'activity-date',
  dateOfMostRecentReport: 'activity-date',
  totalsChangedAt: 'activity-date',
  deadline: 'activity-date',
  firstSeenOn: 'activity-date',
}

function unusable(element: string, field: string, kind: string, value: unknown): Unusable | undefined {
  const expected = isUsable[kind]?.(value) === false ? expectations[kind] : undefined
  return expected === undefined ? undefined : { element, field, expected, got: shortened(value) }
}

const isUsable: Readonly<Record<string, (value: unknown) => boolean>> = {
  decimal: (value) => parseDecimal(String(value)) !== undefined,
  day: (value) => parseIsoDate(String(value)) !== undefined,
  instant: (value) => value instanceof Date && parseIsoDate(dayText(value)) !== undefined,
  integer: (value) => Number.isSafeInteger(value),
}

const expectations: Readonly<Record<string, string>> = {
  decimal: 'a decimal number',
  day: 'a day from 1000-01-01 to 9999-12-31',
  instant: 'a time from 1000-01-01 to 9999-12-31',
  integer: 'a whole number up to 2^53',
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
