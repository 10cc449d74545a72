import type { Command } from 'commander'
import type { CountedAssumption, CountedChange } from '../../release/look-ahead.js'
import { addLongCommand, type CommandLine } from '../command-line.js'
import type { Output } from '../output.js'
import { confirmFacts, type Facts, factsFields, lookAtFacts } from '../wiring/assumed-facts.js'
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

/** Exit code 0 when the newest edition is confirmed, or nothing hangs on it yet; 1 when it needs --confirm. */
async function facts(runtime: Runtime, output: Output, { confirm }: { readonly confirm: boolean }): Promise<number> {
  if (confirm) await confirmFacts(runtime)
  const {
    isOpen,
    next: _,
    ...found
  } = await output.withProgress((update) => lookAtFacts(runtime, (done) => update('map', done, undefined)))
  return output.result(
    found,
    () => [
      `${found.activities} activities; what they say although nobody states it:`,
      ...found.facts.flatMap(describe),
      ...(found.facts.length === 0 ? ['nothing'] : []),
      ...describeEdition(found),
      describeState(found, isOpen),
    ],
    { code: isOpen ? 1 : 0 },
  )
}

function describe({ name, element, states, count, examples, reason, clause, change }: CountedAssumption): string[] {
  return [
    `${name}: ${element} ${states}, in ${count} (${examples.join(', ')})`,
    `  ${reason} (${clause})`,
    `  to change it: ${change}`,
  ]
}

function describeEdition({ edition, newest, changes }: Pick<Facts, 'edition' | 'newest' | 'changes'>): string[] {
  if (edition === newest) return []
  return [
    `this store publishes by edition ${edition} of these rules; giving facts --confirm goes over to edition ${newest} and changes:`,
    ...describeChanges(changes),
  ]
}

/** Changed elements with three examples each. */
export function describeChanges(changes: readonly CountedChange[]): string[] {
  if (changes.length === 0) return ['  nothing']
  return changes.flatMap(({ element, count, examples }) => [
    `  ${element} in ${count}`,
    ...examples.map(({ identifier, before, after }) => `    ${identifier}: ${before} -> ${after}`),
  ])
}

function describeState({ edition, confirmed }: Pick<Facts, 'edition' | 'confirmed'>, isOpen: boolean): string {
  if (isOpen) return 'not confirmed: giving facts --confirm'
  if (!confirmed) return 'nothing needs to be confirmed'
  return `edition ${edition} is confirmed since ${confirmed.at}, by ${confirmed.by}`
}
