import { lookupTable } from '../../kernel/lookup-table.js'
import { parseXsdDecimal } from '../../kernel/money.js'
import type { Element } from '../../kernel/xml/element.js'
import {
  type Column,
  type ColumnType,
  codeColumns,
  codeListColumns,
  column,
  dateColumn,
  decimalColumn,
  listColumn,
  required,
  type Trail,
  textColumn,
} from './columns.js'

/** A table of the activities' data: a row for each element at a path. */
export type Table = {
  readonly name: string
  readonly title: string
  /** The elements that are rows: an XPath from the activity; `.` is the activity itself. */
  readonly rows: string
  readonly columns: readonly Column[]
  /** Columns that together name a row. */
  readonly key: readonly string[]
  readonly trails: (activity: Element) => Trail[]
}

type RowFilter = (trail: Trail) => boolean

/**
 * Raise it with every change of what the tables hold for the same activity: stored rows of another version are made again.
 */
export const tablesVersion = 5

const identifierText = textColumn('iatiidentifier', '/iati-identifier')
const identifier = required({
  ...identifierText,
  value: (trail) => identifierText.value(trail)?.replace(/\s+/g, ' ').trim(),
})

const value: readonly Column[] = [
  decimalColumn('value', 'value'),
  ...codeColumns('value_currency', 'value/@currency', 'Currency'),
  dateColumn('value_valuedate', 'value/@value-date'),
]

const period: readonly Column[] = [
  dateColumn('periodstart_isodate', 'period-start/@iso-date'),
  dateColumn('periodend_isodate', 'period-end/@iso-date'),
]

const party = (name: string, element: string): Column[] => [
  textColumn(`${name}_ref`, `${element}/@ref`),
  ...codeColumns(`${name}_type`, `${element}/@type`, 'OrganisationType'),
  textColumn(`${name}_narrative`, `${element}/narrative`),
]

const document = (element: string): Column[] => [
  textColumn('url', `${element}/@url`),
  textColumn('title_narrative', `${element}/title/narrative`),
  dateColumn('documentdate_isodate', `${element}/document-date/@iso-date`),
]

/**
 * The tables. Names of columns are those of the elements and attributes in lower case, without hyphens, joined by
 * underscores, as in the tables that others make from IATI files.
 */
export const tables: readonly Table[] = [
  {
    name: 'activities',
    title: 'Activities',
    rows: '.',
    key: ['iatiidentifier'],
    trails: (activity) => [[activity]],
    columns: [
      identifier,
      column('lastupdateddatetime', 'instant', '/@last-updated-datetime'),
      textColumn('defaultcurrency', '/@default-currency'),
      textColumn('defaultlanguage', '/@xml:lang'),
      column('humanitarian', 'integer', '/@humanitarian'),
      column('hierarchy', 'integer', '/@hierarchy'),
      textColumn('reportingorg_ref', 'reporting-org/@ref'),
      ...codeColumns('reportingorg_type', 'reporting-org/@type', 'OrganisationType'),
      textColumn('reportingorg_narrative', 'reporting-org/narrative'),
      textColumn('title_narrative', 'title/narrative'),
      textColumn('description_narrative', "description[not(@type) or @type='1']/narrative"),
      textColumn('objectives_narrative', "description[@type='2']/narrative"),
      ...codeColumns('activitystatus_code', 'activity-status/@code', 'ActivityStatus'),
      dateColumn('plannedstart', "activity-date[@type='1']/@iso-date"),
      dateColumn('actualstart', "activity-date[@type='2']/@iso-date"),
      dateColumn('plannedend', "activity-date[@type='3']/@iso-date"),
      dateColumn('actualend', "activity-date[@type='4']/@iso-date"),
      ...codeColumns('activityscope_code', 'activity-scope/@code', 'ActivityScope'),
      ...codeListColumns('recipientcountry_code', 'recipient-country/@code', 'Country'),
      listColumn('recipientcountry_percentage', 'recipient-country/@percentage'),
      ...codeListColumns('recipientregion_code', 'recipient-region/@code', 'Region'),
      ...codeColumns('defaultflowtype_code', 'default-flow-type/@code', 'FlowType'),
      ...codeColumns('defaultfinancetype_code', 'default-finance-type/@code', 'FinanceType'),
      ...codeColumns('defaultaidtype_code', 'default-aid-type/@code', 'AidType'),
      ...codeColumns('defaulttiedstatus_code', 'default-tied-status/@code', 'TiedStatus'),
    ],
  },
  table('transactions', 'Transactions', 'transaction', [
    textColumn('ref', '@ref'),
    ...codeColumns('transactiontype_code', 'transaction-type/@code', 'TransactionType'),
    dateColumn('transactiondate_isodate', 'transaction-date/@iso-date'),
    ...value,
    textColumn('description_narrative', 'description/narrative'),
    textColumn('providerorg_provideractivityid', 'provider-org/@provider-activity-id'),
    ...party('providerorg', 'provider-org'),
    textColumn('receiverorg_receiveractivityid', 'receiver-org/@receiver-activity-id'),
    ...party('receiverorg', 'receiver-org'),
  ]),
  table('budgets', 'Budgets', 'budget', [
    ...codeColumns('type', '@type', 'BudgetType'),
    ...codeColumns('status', '@status', 'BudgetStatus'),
    ...period,
    ...value,
  ]),
  table('planned_disbursements', 'Planned disbursements', 'planned-disbursement', [
    ...codeColumns('type', '@type', 'BudgetType'),
    ...period,
    ...value,
    textColumn('providerorg_provideractivityid', 'provider-org/@provider-activity-id'),
    ...party('providerorg', 'provider-org'),
    ...party('receiverorg', 'receiver-org'),
  ]),
  table('locations', 'Locations', 'location', [
    textColumn('name_narrative', 'name/narrative'),
    { ...decimalColumn('latitude', 'point/pos', 5), value: coordinate(0) },
    { ...decimalColumn('longitude', 'point/pos', 5), value: coordinate(1) },
    ...codeColumns('locationreach_code', 'location-reach/@code', 'GeographicLocationReach'),
    ...codeColumns('exactness_code', 'exactness/@code', 'GeographicExactness'),
    ...codeColumns('locationclass_code', 'location-class/@code', 'GeographicLocationClass'),
  ]),
  table('sectors', 'Sectors', 'sector', [
    ...codeColumns('vocabulary', '@vocabulary', 'SectorVocabulary'),
    textColumn('vocabularyuri', '@vocabulary-uri'),
    ...codeColumns('code', '@code', 'Sector'),
    decimalColumn('percentage', '@percentage', 2),
  ]),
  table('recipient_countries', 'Recipient countries', 'recipient-country', [
    ...codeColumns('code', '@code', 'Country'),
    decimalColumn('percentage', '@percentage', 2),
  ]),
  table('recipient_regions', 'Recipient regions', 'recipient-region', [
    ...codeColumns('vocabulary', '@vocabulary', 'RegionVocabulary'),
    ...codeColumns('code', '@code', 'Region'),
    decimalColumn('percentage', '@percentage', 2),
  ]),
  table(
    ...(['goals', 'Sustainable Development Goals', "tag[@vocabulary='2' or @vocabulary='3']"] as const),
    [
      ...codeColumns(
        'goal',
        "substring-before(concat(@code, '.'), '.')",
        'UNSDG-Goals',
        (trail) => codeOf(trail)?.split('.')[0],
      ),
      ...codeColumns('target', "@code[../@vocabulary='3']", 'UNSDG-Targets', (trail) => codeOf(trail, '3')),
    ],
    (trail) => (codeOf(trail, '2') ?? codeOf(trail, '3')) !== undefined,
  ),
  table('related_activities', 'Related activities', 'related-activity', [
    textColumn('ref', '@ref'),
    ...codeColumns('type', '@type', 'RelatedActivityType'),
  ]),
  table('participating_orgs', 'Participating organisations', 'participating-org', [
    ...codeColumns('role', '@role', 'OrganisationRole'),
    textColumn('ref', '@ref'),
    ...codeColumns('type', '@type', 'OrganisationType'),
    textColumn('narrative', 'narrative'),
  ]),
  table('documents', 'Documents', 'document-link', [
    ...document('.'),
    textColumn('format', '@format'),
    ...codeListColumns('category_code', 'category/@code', 'DocumentCategory'),
    listColumn('language_code', 'language/@code'),
  ]),
  table('results', 'Results', 'result/indicator/period', [
    ...codeColumns('type', '../../@type', 'ResultType'),
    textColumn('title_narrative', '../../title/narrative'),
    ...codeColumns('indicator_measure', '../@measure', 'IndicatorMeasure'),
    textColumn('indicator_title_narrative', '../title/narrative'),
    ...period,
    // Parts by sex, age and the like are no whole.
    textColumn('actual_value', 'actual[not(dimension)]/@value'),
    textColumn('actual_comment_narrative', 'actual[not(dimension)]/comment/narrative'),
  ]),
  table('reports', 'Progress reports', 'result/indicator/period/actual/document-link', document('.')),
]

/** The code of a `tag`, unless it is of another vocabulary than the wanted one. */
function codeOf(trail: Trail, wanted?: string): string | undefined {
  const { code, vocabulary } = trail.at(-1)?.attributes ?? {}
  return wanted === undefined || vocabulary === wanted ? code : undefined
}

/**
 * A table of elements that an activity repeats; its rows are numbered within the activity, in the order of the XML. A
 * condition in the path of rows is `isRow`.
 */
function table(name: string, title: string, rows: string, columns: readonly Column[], isRow?: RowFilter): Table {
  const steps = rows.replace(/\[.*\]/, '').split('/')
  return {
    ...{ name, title, rows, key: ['iatiidentifier', 'number'] },
    columns: [
      identifier,
      { ...required(column('number', 'integer', 'position()')), value: () => undefined },
      ...columns,
    ],
    trails: (activity) => trailsOf([[activity]], steps).filter(isRow ?? (() => true)),
  }
}

function trailsOf(from: readonly Trail[], [name, ...rest]: readonly string[]): Trail[] {
  const next: Trail[] = []
  for (const trail of from) {
    for (const child of trail.at(-1)?.children ?? []) if (child.name === name) next.push([...trail, child])
  }
  return rest.length === 0 ? next : trailsOf(next, rest)
}

/** Latitude (0) or longitude (1) of a `pos`. */
function coordinate(index: 0 | 1): Column['value'] {
  const pos = textColumn('pos', 'point/pos').value
  return (trail) => {
    const both = pos(trail)?.trim().split(/\s+/).slice(0, 2) ?? []
    return both.length === 2 && both.every((one) => plainDecimal.test(one)) ? both[index] : undefined
  }
}

/** The rows of a table for one activity, one by one: a value for each column. */
export function* rowsOf({ columns, trails }: Table, activity: Element): Generator<(string | undefined)[]> {
  let number = 0
  for (const trail of trails(activity)) {
    number++
    yield columns.map(({ path, type, value: read }) =>
      path === 'position()' ? String(number) : cellOf(type, read(trail)),
    )
  }
}

const plainDecimal = /^-?\d+(?:\.\d+)?$/

/** The value as its column has it: other publishers write what the schema allows and a table cannot hold. */
function cellOf(type: ColumnType, value: string | undefined): string | undefined {
  if (value === undefined || type === 'string') return value
  if (type === 'decimal') return plainDecimal.test(value) ? value : parseXsdDecimal(value)
  if (type === 'integer') return integers[value.trim()] ?? (/^\d{1,9}$/.test(value) ? value : undefined)
  const text = type === 'date' ? value.slice(0, 10) : value
  return Number.isNaN(Date.parse(text)) ? undefined : text
}

const integers = lookupTable({ true: '1', false: '0' })
