import { type Command, Option } from 'commander'
import {
  decideProjectState,
  findProjectState,
  listProjectStates,
  type ProjectState,
  type ProjectStateDetails,
  type ProjectStateRow,
  projectStates,
  undecideProjectState,
} from '../../catalogue/sql/project-states.js'
import { type ProjectMonth, receiptsOfProject } from '../../catalogue/sql/receipts.js'
import { instantsInText } from '../../kernel/dates.js'
import { ServiceError } from '../../kernel/errors.js'
import { type Decimal, roundToCurrency } from '../../kernel/money.js'
import { addCommand, type CommandLine, orNotFound, wholeNumber } from '../command-line.js'
import { labelled, type Output } from '../output.js'
import { auditOperator } from '../wiring/audit.js'
import { ruleOf } from '../wiring/held-projects.js'
import { inPages } from '../wiring/in-pages.js'
import { numberOf } from '../wiring/named-row.js'
import type { Runtime } from '../wiring/runtime.js'

/** `giving projects`. */
export function registerProjects(program: Command, { storeAction }: CommandLine): void {
  const projects = program.command('projects').description('the projects of the store and the state each is in')
  addCommand(projects, 'list', 'list projects with their states, by id')
    .addOption(new Option('--state <state>', 'only in this state').choices(projectStates))
    .option('--organization <id>', 'only of this organisation: its number or externalId')
    .option('--notice <code>', 'only with this notice, such as deadline-unusable')
    .option('--after <id>', 'only those with a higher id', wholeNumber)
    .option('--limit <number>', 'how many at most; default: all', wholeNumber)
    .action(storeAction([], list))
  addCommand(projects, 'show', 'show a project: its state, who set it, its identifier, its notices')
    .argument('<id>', 'number or externalId of the project')
    .option('--receipts', 'also its months in the books, and what each import has brought to them', false)
    .action(storeAction([], show))
  addCommand(projects, 'set', 'override the state of a project, which imports and syncs then no longer change')
    .argument('<id>', 'number or externalId of the project')
    .addOption(
      new Option('--state <state>', 'stated: let its records decide again')
        .choices([...projectStates, 'stated'])
        .makeOptionMandatory(),
    )
    .action(storeAction([], set))
}

type Filters = {
  readonly state?: ProjectState
  readonly organization?: string
  readonly notice?: string
  readonly after?: number
  readonly limit?: number
}

async function list(
  { store }: Runtime,
  output: Output,
  { state, organization, notice, ...range }: Filters,
): Promise<number> {
  if (notice !== undefined && !ruleOf(notice)) {
    throw new ServiceError('not-found', `there is no notice ${notice} (docs/reference/notices.md)`)
  }
  const filter = {
    ...(state && { state }),
    ...(organization !== undefined && { organizationId: await numberOf(store.db, 'organisation', organization) }),
    ...(notice !== undefined && { notice }),
  }
  const pages = inPages(range, (page) => listProjectStates(store.db, filter, page))
  return await output.list('projects', pages, describe, 'no projects')
}

async function show(
  { store }: Runtime,
  output: Output,
  name: string,
  { receipts }: { readonly receipts: boolean },
): Promise<number> {
  const id = await numberOf(store.db, 'project', name)
  const project = orNotFound(await findProjectState(store.db, id), unknown(id))
  return printDetails(output, project, receipts ? await receiptsOfProject(store.db, id) : undefined)
}

async function set(
  runtime: Runtime,
  output: Output,
  name: string,
  { state }: { state: ProjectState | 'stated' },
): Promise<number> {
  const project = await runtime.store.transaction(async (db) => {
    const id = await numberOf(db, 'project', name)
    const before = orNotFound(await findProjectState(db, id), unknown(id))
    const changed = state === 'stated' ? await undecideProjectState(db, id) : await decideProjectState(db, id, state)
    if (changed) {
      await auditOperator(runtime, db, {
        action: 'project-state-changed',
        subject: `project ${id}`,
        details: { before: before.decided ? `${before.state} (decided)` : before.state, state },
      })
    }
    return orNotFound(await findProjectState(db, id), unknown(id))
  })
  return printDetails(output, project)
}

const unknown = (id: number) => `there is no project ${id}`

function describe({ id, externalId, title, state, decided, source }: ProjectStateRow): string {
  const own = externalId === undefined ? '' : ` (externalId ${externalId})`
  return `${id}  ${`${state}${decided ? ' (decided)' : ''}`.padEnd(18)}  ${source.padEnd(8)}  ${title}${own}`
}

/** A month in the books on a line, and below it what each import has brought. */
function describeMonth({ month, kind, currency, amount, count, imports }: ProjectMonth): string[] {
  const shown = (sum: Decimal) => `${roundToCurrency(sum, currency)} ${currency}`
  return [
    `${month} ${kind}: ${shown(amount)} in the books, ${count} in number`,
    ...imports.map(
      ({ import: id, at, actor, files = [], ...brought }) =>
        `  ${shown(brought.amount)}, ${brought.count} in number, by ` +
        (id === undefined ? 'an import that is not known' : `import ${id} of ${at} (${files.join(', ')}; ${actor})`),
    ),
  ]
}

function printDetails(output: Output, found: ProjectStateDetails, receipts?: readonly ProjectMonth[]): number {
  const project = instantsInText(found)
  const { organizationId, organizationName = '', paused, decided, source } = project
  const facts = [
    ['record', `active ${project.active}, status ${project.status}${paused ? ', paused' : ''}`],
    ['decided by', decided ? 'an operator (giving audit)' : source === 'local' ? 'its row' : 'its records'],
    ['organisation', organizationId === undefined ? undefined : `${organizationId} ${organizationName}`],
    ['first seen', project.firstSeenOn],
    ['identifier', project.identifier ?? 'not published yet'],
    ['last updated', project.lastUpdatedAt],
  ] as const
  return output.result({ ...project, ...(receipts && { receipts }) }, () => [
    describe(project),
    ...labelled(facts, 14),
    ...project.notices.map(({ code, path, detail }) => `${code}  ${ruleOf(code)} (${path}: ${detail})`),
    ...(project.stale ? ['the next publication renders it again'] : []),
    ...(receipts ?? []).flatMap(describeMonth),
  ])
}
