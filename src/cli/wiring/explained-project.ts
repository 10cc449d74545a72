import { fieldsOfElement } from '../../catalogue/import/fields-of-element.js'
import { findExternalId } from '../../catalogue/sql/external-ids.js'
import { findImportLines, findSetFields, type ImportOrigin, type StoredRow } from '../../catalogue/sql/import-lines.js'
import { receiptsOfProject } from '../../catalogue/sql/receipts.js'
import type { ExplainedElement, ExplainedProject, Origin } from '../../http/pages/explained.js'
import { assumptions, statementOf } from '../../iati/mapping/assumptions.js'
import { clausesOfElements } from '../../iati/mapping/clauses.js'
import type { MappingConfig } from '../../iati/mapping/mapping-config.js'
import { lookupTable } from '../../kernel/lookup-table.js'
import { organisationFields } from '../../kernel/nouns/organisation.js'
import { projectFields } from '../../kernel/nouns/project.js'
import { reportFields } from '../../kernel/nouns/report.js'
import type { ProjectGraph } from '../../kernel/project.js'
import type { Element } from '../../kernel/xml/element.js'
import { findConfirmedAssumptions } from '../../platform/database/confirmed-assumptions.js'
import type { Db } from '../../platform/database/connection.js'
import { mapOneProject } from '../../release/look-ahead.js'

/** Explains every child and attribute of a project's activity as it would be published now; undefined: no such project. */
export async function explainProject(
  db: Db,
  config: MappingConfig,
  now: Date,
  projectId: number,
): Promise<ExplainedProject | undefined> {
  const mapped = await mapOneProject({ db, config, now }, projectId)
  if (!mapped) return undefined
  const { graph, identifier, activity } = mapped
  const { organisation } = graph
  const related = recordsOf(graph, {
    project: await findExternalId(db, 'project', projectId),
    organisation: organisation && (await findExternalId(db, 'organisation', organisation.id)),
  })
  const lines = await withSetFields(db, related, await findImportLines(db, related))
  const months = graph.months.length === 0 ? [] : await receiptsOfProject(db, projectId)
  const explain = (element: string, values: readonly string[], isKept: boolean): ExplainedElement => {
    const fields = fieldsBehind(element)
    const kinds = new Set(fields.map((field) => field.split('.', 1)[0] ?? ''))
    const assumed = [...activity.assumed].filter((name) => assumptions[name].element.split('/', 1)[0] === element)
    return {
      element,
      values,
      clauses: (clausesOfElements[element] ?? ['1.7']).map((clause) => `iati.md ${clause}`),
      fields,
      origins: [
        ...(isKept ? keptOrigins(graph) : []),
        ...recordOrigins(fields, graph, lines),
        ...(kinds.has('gifts') ? months.map(monthOrigin) : []),
      ],
      assumed: assumed.map((name) => {
        const { reason, change } = assumptions[name]
        return { name, states: statementOf(name, config), reason, change }
      }),
    }
  }
  const { attributes, children } = activity.element
  const names = [...new Set(children.map(({ name }) => name))]
  return {
    project: projectId,
    identifier,
    confirmed: (await findConfirmedAssumptions(db))?.by !== undefined,
    elements: [
      ...Object.entries(attributes).map(([name, value]) => explain(`@${name}`, [`@${name} ${value}`], false)),
      ...names.map((name) => {
        const own = children.filter((child) => child.name === name)
        return explain(
          name,
          own.flatMap((child) => factsOf(child)),
          own.some(({ line }) => line !== undefined),
        )
      }),
    ],
  }
}

/** `path value` of each attribute and text, in the order of the document. */
function factsOf({ name, attributes, children, text }: Element, above = ''): string[] {
  const at = `${above}${name}`
  return [
    ...Object.entries(attributes).map(([attribute, value]) => `${at}/@${attribute} ${value}`),
    ...(children.length === 0 && text !== '' ? [`${at} ${text}`] : []),
    ...children.flatMap((child) => factsOf(child, `${at}/`)),
  ]
}

/** Fields that decide about a part without being written there. */
const decidingFields = lookupTable<readonly string[]>({
  '@humanitarian': ['themes.humanitarian', 'themes.sector', 'projects.glideNumber', 'projects.themes'],
  '@budget-not-provided': ['projects.goal'],
  'contact-info': ['projects.organization', 'projects.projectLink', 'projects.contactUrl'],
  'activity-scope': ['projects.countries', 'projects.locationName'],
  'recipient-region': ['projects.countries'],
})

function fieldsBehind(element: string): readonly string[] {
  return decidingFields[element] ?? (element.startsWith('@') ? [] : fieldsOfElement(element))
}

/** A record that a project is published from, as its file may call it, and the row that it is in. */
type Related = { readonly kind: string; readonly key: string; readonly row?: StoredRow }

function recordsOf(
  { project, organisation, themes, months, disbursements, payoutPlan, reports, photos }: ProjectGraph,
  externalIds: { readonly project: string | undefined; readonly organisation: string | undefined },
): Related[] {
  const own = [String(project.id), ...(externalIds.project === undefined ? [] : [externalIds.project])]
  const of = (kind: string, keys: readonly (string | number | undefined)[], row?: StoredRow): Related[] =>
    keys.flatMap((key) => (key === undefined ? [] : [{ kind, key: String(key), ...(row && { row }) }]))
  const funders = months.map(({ funder }) => funder?.id)
  const themeIds = themes.map(({ id }) => id)
  const payouts = disbursements.map(({ reference }) => reference)
  const plans = payoutPlan.map(({ reference }) => reference)
  const images = photos.flatMap(({ position }) => own.map((key) => `${key} ${position}`))
  const partner = organisation && [organisation.id, externalIds.organisation]
  return [
    ...of('projects', own, { noun: projectFields, table: 'project', by: 'id', value: project.id }),
    ...(organisation && partner
      ? of('organizations', partner, {
          ...{ noun: organisationFields, table: 'organisation', by: 'id', value: organisation.id },
        })
      : []),
    ...reports.flatMap(({ url }) =>
      of('reports', [url], { noun: reportFields, table: 'progress_report', by: 'url', value: url }),
    ),
    ...[...of('funders', funders), ...of('themes', themeIds), ...of('images', images)],
    ...[...of('disbursements', payouts), ...of('payout-plans', plans)],
  ]
}

type OriginLine = ImportOrigin & {
  /** What the import set in the row; absent: it is not remembered, or nothing else brought the record. */
  readonly set?: ReadonlySet<string>
}

/** The lines of records with what their imports set, where several have brought one. */
async function withSetFields(
  db: Db,
  related: readonly Related[],
  lines: readonly ImportOrigin[],
): Promise<readonly OriginLine[]> {
  const rows = new Map(related.flatMap(({ kind, key, row }) => (row ? [[`${kind} ${key}`, row] as const] : [])))
  const found: OriginLine[] = []
  for (const row of new Set([...rows.values(), undefined])) {
    const own = lines.filter(({ kind, key }) => rows.get(`${kind} ${key}`) === row)
    const imports = own.map((line) => line.import)
    const set = row && own.length > 1 ? await findSetFields(db, imports, row) : undefined
    for (const line of own) {
      const fields = set?.get(line.import)
      found.push({ ...line, ...(fields && { set: fields }) })
    }
  }
  return found
}

/** Lines of the records that have these fields; of a project that no import has brought, who wrote its row. */
function recordOrigins(fields: readonly string[], { project }: ProjectGraph, lines: readonly OriginLine[]): Origin[] {
  const kinds = new Set(fields.map((field) => field.split('.', 1)[0] ?? ''))
  const setOf = ({ kind, set }: OriginLine) =>
    set && fields.filter((field) => field.startsWith(`${kind}.`) && set.has(field.slice(kind.length + 1)))
  const found = [...kinds].flatMap((kind) => {
    const known = lines.filter((line) => line.kind === kind)
    const setting = known.filter((line) => setOf(line)?.length !== 0)
    return setting.length > 0 ? setting : known
  })
  const origins = found.map((line): Origin => {
    const { kind, key, import: id, at, file, line: number } = line
    const set = setOf(line)
    return { record: `${kind} ${key}`, import: id, at, file, line: number, ...(set && set.length > 0 && { set }) }
  })
  if (!kinds.has('projects') || lines.some(({ kind }) => kind === 'projects')) return origins
  return [...origins, { record: `projects ${project.id}`, source: sources[project.source], writer: project.source }]
}

const sources = {
  local: 'SQL or a command of an operator',
  import: 'an import of which no line is known',
  upstream: 'the sync with UPSTREAM_URL',
  demo: 'invented data of a trial',
} as const

/** Where what was published elsewhere stands. */
function keptOrigins({ kept }: ProjectGraph): Origin[] {
  if (kept?.file === undefined || kept.line === undefined) return []
  return [
    {
      record: 'the activity from before the move',
      at: new Date(`${kept.movedOn}T00:00:00Z`),
      file: kept.file,
      line: kept.line,
    },
  ]
}

function monthOrigin({
  month,
  kind,
  amount,
  currency,
  imports,
}: Awaited<ReturnType<typeof receiptsOfProject>>[number]): Origin {
  return { month, kind, amount, currency, files: [...new Set(imports.flatMap(({ files = [] }) => files))] }
}
