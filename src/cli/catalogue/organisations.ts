import { type Command, Option } from 'commander'
import { changeAsImport } from '../../catalogue/import/one-change.js'
import { type Merged, mergeOrganisations } from '../../catalogue/sql/merge-organisations.js'
import {
  findVetting,
  listVetting,
  recordVetting,
  type VettingDetails,
  type VettingRow,
} from '../../catalogue/sql/vetting.js'
import type { Transact } from '../../platform/database/store.js'
import { addCommand, type CommandLine, orNotFound, wholeNumber } from '../command-line.js'
import { labelled, type Output } from '../output.js'
import { auditOperator, userOfProcess } from '../wiring/audit.js'
import { inPages } from '../wiring/in-pages.js'
import { numberOf } from '../wiring/named-row.js'
import type { Runtime } from '../wiring/runtime.js'

/** `giving organizations`. */
export function registerOrganisations(program: Command, { storeAction }: CommandLine): void {
  const organisations = program.command('organizations').description('the organisations of the store')
  addCommand(organisations, 'list', 'list organisations, by id')
    .addOption(new Option('--vetted <answer>', 'yes: only vetted ones; no: only others').choices(answers))
    .option('--after <id>', 'only those with a higher id', wholeNumber)
    .option('--limit <number>', 'how many at most; default: all', wholeNumber)
    .action(storeAction([], list))
  addCommand(organisations, 'show', 'show an organisation')
    .argument('<id>', 'number or externalId of the organisation')
    .action(storeAction([], show))
  addCommand(organisations, 'set', 'vouch for an organisation or no longer do so; the API has a list of vetted ones')
    .argument('<id>', 'number or externalId of the organisation')
    .addOption(new Option('--vetted <answer>', 'whether you vouch for it').choices(answers).makeOptionMandatory())
    .action(storeAction([], set))
  addCommand(organisations, 'merge', 'merge two organisations that are the same; giving imports undo takes it back')
    .argument('<kept>', 'number or externalId of the organisation that stays')
    .argument('<gone>', 'number or externalId of the one that goes; what refers to it then refers to the other')
    .option('--dry-run', 'show what would change, and change nothing', false)
    .action(storeAction([], merge))
}

const answers = ['yes', 'no'] as const
type Answer = (typeof answers)[number]

type Filters = { readonly vetted?: Answer; readonly after?: number; readonly limit?: number }

async function list({ store }: Runtime, output: Output, { vetted, ...range }: Filters): Promise<number> {
  const filter = vetted === undefined ? {} : { vetted: vetted === 'yes' }
  const pages = inPages(range, (page) => listVetting(store.db, filter, page))
  return await output.list('organizations', pages, describe, 'no organisations')
}

async function show({ store }: Runtime, output: Output, name: string): Promise<number> {
  const id = await numberOf(store.db, 'organisation', name)
  return printDetails(output, id, await findVetting(store.db, id))
}

async function set(runtime: Runtime, output: Output, name: string, { vetted }: { vetted: Answer }): Promise<number> {
  const id = await numberOf(runtime.store.db, 'organisation', name)
  const organisation = await runtime.store.transaction(async (db) => {
    if (await recordVetting(db, id, vetted === 'yes')) {
      const details = { vetted: vetted === 'yes' }
      await auditOperator(runtime, db, { action: 'vetting-changed', subject: `organization ${id}`, details })
    }
    return await findVetting(db, id)
  })
  return printDetails(output, id, organisation)
}

async function merge(
  runtime: Runtime,
  output: Output,
  keptName: string,
  goneName: string,
  { dryRun }: { readonly dryRun: boolean },
): Promise<number> {
  const { store, clock } = runtime
  const kept = await numberOf(store.db, 'organisation', keptName)
  const gone = await numberOf(store.db, 'organisation', goneName)
  let merged: Merged = { projects: 0, months: 0, gifts: 0, payouts: 0 }
  const work = (transaction: Transact) =>
    changeAsImport(
      { transaction },
      { clock, operator: userOfProcess() },
      { name: `giving organizations merge ${kept} ${gone}`, kind: 'organizations' },
      async (db) => {
        merged = await mergeOrganisations(db, kept, gone)
        const details = { merged: gone, ...merged }
        await auditOperator(runtime, db, { action: 'organizations-merged', subject: `organization ${kept}`, details })
      },
    )
  const id = dryRun ? await store.rehearsal(work) : await work((one) => store.transaction(one))
  const { projects, months, gifts, payouts } = merged
  return output.result({ kept, gone, ...merged, ...(dryRun ? { dryRun } : { import: id }) }, () => [
    `${dryRun ? 'dry run, ' : ''}organisation ${gone} ${dryRun ? 'would be' : 'is'} part of ${kept}: ${projects} projects, ${months} months and ${gifts} single gifts, ${payouts} payouts`,
    ...(dryRun ? [] : [`giving imports undo ${id} takes it back`]),
  ])
}

function describe({ id, externalId, name, vetted, source, projects, activeProjects }: VettingRow): string {
  const counts = `${activeProjects} of ${projects} projects active${externalId === undefined ? '' : `, externalId ${externalId}`}`
  return `${id}  ${(vetted ? 'vetted' : 'not vetted').padEnd(10)}  ${source.padEnd(8)}  ${name} (${counts})`
}

function printDetails(output: Output, id: number, found: VettingDetails | undefined): number {
  const organisation = orNotFound(found, `there is no organisation ${id}`)
  const { orgRef, orgType, ein, url } = organisation
  const facts = [
    ['IATI identifier', orgRef],
    ['IATI type', orgType],
    ['EIN', ein],
    ['website', url],
  ] as const
  return output.result(organisation, () => [describe(organisation), ...labelled(facts, 17)])
}
