import { type Command, Option } from 'commander'
import {
  findVetting,
  listVetting,
  recordVetting,
  type VettingDetails,
  type VettingRow,
} from '../../catalogue/sql/vetting.js'
import { addCommand, type CommandLine, orNotFound, wholeNumber } from '../command-line.js'
import { labelled, type Output } from '../output.js'
import { auditOperator } from '../wiring/audit.js'
import { inPages } from '../wiring/in-pages.js'
import type { Runtime } from '../wiring/runtime.js'

/** `giving organizations`. */
export function registerOrganisations(program: Command, { storeAction }: CommandLine): void {
  const organisations = program.command('organizations').description('the organisations of the store')
  addCommand(organisations, 'list', 'every organisation, by id')
    .addOption(new Option('--vetted <answer>', 'only those that are vetted, or that are not').choices(answers))
    .option('--after <id>', 'only those with a higher id', wholeNumber)
    .option('--limit <number>', 'how many at most; all when absent', wholeNumber)
    .action(storeAction([], list))
  addCommand(organisations, 'show', 'one organisation')
    .argument('<id>', 'its number', wholeNumber)
    .action(storeAction([], show))
  addCommand(organisations, 'set', 'vouch for an organisation, or no longer; the API lists vetted ones')
    .argument('<id>', 'its number', wholeNumber)
    .addOption(new Option('--vetted <answer>').choices(answers).makeOptionMandatory())
    .action(storeAction([], set))
}

const answers = ['yes', 'no'] as const
type Answer = (typeof answers)[number]

type Filters = { readonly vetted?: Answer; readonly after?: number; readonly limit?: number }

async function list({ store }: Runtime, output: Output, { vetted, ...range }: Filters): Promise<number> {
  const filter = vetted === undefined ? {} : { vetted: vetted === 'yes' }
  const pages = inPages(range, (page) => listVetting(store.db, filter, page))
  return await output.list('organizations', pages, describe, 'no organisations')
}

async function show({ store }: Runtime, output: Output, id: number): Promise<number> {
  return printDetails(output, id, await findVetting(store.db, id))
}

async function set(runtime: Runtime, output: Output, id: number, { vetted }: { vetted: Answer }): Promise<number> {
  const organisation = await runtime.store.transaction(async (db) => {
    if (await recordVetting(db, id, vetted === 'yes')) {
      const details = { vetted: vetted === 'yes' }
      await auditOperator(runtime, db, { action: 'vetting-changed', subject: `organization ${id}`, details })
    }
    return await findVetting(db, id)
  })
  return printDetails(output, id, organisation)
}

function describe({ id, name, vetted, source, projects, activeProjects }: VettingRow): string {
  const counts = `${activeProjects} of ${projects} projects active`
  return `${id}  ${(vetted ? 'vetted' : 'not vetted').padEnd(10)}  ${source.padEnd(8)}  ${name} (${counts})`
}

function printDetails(output: Output, id: number, found: VettingDetails | undefined): number {
  const organisation = orNotFound(found, `there is no organisation ${id}`)
  const { orgRef, orgType, ein, url } = organisation
  const facts = [
    ['IATI identifier', orgRef] as const,
    ['IATI type', orgType] as const,
    ['EIN', ein] as const,
    ['website', url] as const,
  ]
  return output.result(organisation, () => [describe(organisation), ...labelled(facts, 17)])
}
