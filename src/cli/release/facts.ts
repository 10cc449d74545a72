import type { Command } from 'commander'
import { newestEdition } from '../../iati/mapping/assumptions.js'
import { isDemoPublisher } from '../../kernel/demo-publisher.js'
import {
  type ConfirmedAssumptions,
  findConfirmedAssumptions,
  recordAssumptions,
} from '../../platform/database/confirmed-assumptions.js'
import { lockFacts } from '../../platform/database/facts.js'
import { findPublisher } from '../../platform/database/publisher.js'
import type { CountedAssumption, CountedChange } from '../../release/render/count-assumptions.js'
import { addLongCommand, type CommandLine } from '../command-line.js'
import type { Output } from '../output.js'
import { auditOperator, userOfProcess } from '../wiring/audit.js'
import { currentMapping, mappingFields } from '../wiring/publication.js'
import type { Runtime } from '../wiring/runtime.js'

/** `giving facts`. */
export function registerFacts(program: Command, { storeAction }: CommandLine): void {
  addLongCommand(
    program,
    'facts',
    'list what activities would say although no record and no person states it: how many, examples, reason, clause, how to change it; exit code 1 when it needs --confirm',
  )
    .option('--confirm', 'let the list be published, by the rules of today', false)
    .action(storeAction(factsFields, facts))
}

const factsFields = [...mappingFields, 'unset'] as const

type FactsRuntime = Runtime<(typeof factsFields)[number]>

/** Exit code 0 when the newest edition is confirmed, or nothing hangs on it yet; 1 when it needs --confirm. */
async function facts(
  runtime: FactsRuntime,
  output: Output,
  { confirm }: { readonly confirm: boolean },
): Promise<number> {
  const { store, config, clock, signal } = runtime
  const { countAssumptions } = await import('../../release/render/count-assumptions.js')
  if (confirm) await confirmNewest(runtime)
  const mapping = { ...(await currentMapping(runtime)), unset: config.unset }
  const counted = await output.withProgress((update) =>
    countAssumptions({
      ...{ db: store.db, config: mapping, now: clock(), signal },
      onProgress: (done, total) => update('map', done, total),
    }),
  )
  const confirmed = await findConfirmedAssumptions(store.db)
  const state = { edition: confirmed?.edition ?? newestEdition, newest: newestEdition, ...whoConfirmed(confirmed) }
  const isOpen = await needsPerson(runtime, confirmed)
  return output.result(
    { ...state, ...counted },
    () => [
      `${counted.activities} activities; what they say although nobody states it:`,
      ...counted.facts.flatMap(describe),
      ...(counted.facts.length === 0 ? ['nothing'] : []),
      ...describeChanges(counted.changes, state),
      describeState(confirmed, isOpen),
    ],
    { code: isOpen ? 1 : 0 },
  )
}

/** A person confirms once before the first release of a real publisher, and may confirm an edition that came later. */
async function needsPerson({ config, store }: FactsRuntime, confirmed: ConfirmedAssumptions | undefined) {
  if (confirmed?.by !== undefined) return confirmed.edition < newestEdition
  if (isDemoPublisher(config.reportingOrg.ref)) return false
  return confirmed !== undefined || !(config.factsConfirmed || (await findPublisher(store.db)))
}

async function confirmNewest(runtime: FactsRuntime): Promise<void> {
  const { store, clock } = runtime
  await store.transaction(async (db) => {
    await lockFacts(db)
    const known = await findConfirmedAssumptions(db)
    if (known?.by !== undefined && known.edition === newestEdition) return
    await recordAssumptions(db, { edition: newestEdition, by: userOfProcess().actor }, clock())
    await auditOperator(runtime, db, { action: 'facts-confirmed', details: { edition: newestEdition } })
  })
}

function whoConfirmed(confirmed: ConfirmedAssumptions | undefined) {
  const { by, at } = confirmed ?? {}
  return by === undefined || at === undefined ? {} : { confirmed: { by, at } }
}

function describe({ name, element, states, count, examples, reason, clause, change }: CountedAssumption): string[] {
  return [
    `${name}: ${element} ${states}, in ${count} (${examples.join(', ')})`,
    `  ${reason} (${clause})`,
    `  to change it: ${change}`,
  ]
}

function describeChanges(
  changes: readonly CountedChange[],
  { edition, newest }: { readonly edition: number; readonly newest: number },
): string[] {
  if (edition === newest) return []
  return [
    `this store publishes by edition ${edition} of these rules; giving facts --confirm goes over to edition ${newest} and changes:`,
    ...(changes.length === 0 ? ['  nothing'] : []),
    ...changes.map(({ element, count, examples }) => `  ${element} in ${count} (${examples.join(', ')})`),
  ]
}

function describeState(confirmed: ConfirmedAssumptions | undefined, isOpen: boolean): string {
  if (isOpen) return 'not confirmed: giving facts --confirm'
  if (confirmed?.by === undefined) return 'nothing needs to be confirmed'
  return `edition ${confirmed.edition} is confirmed since ${confirmed.at}, by ${confirmed.by}`
}
