import type { Command } from 'commander'
import type { CountedAssumption } from '../../release/render/count-assumptions.js'
import { addLongCommand, type CommandLine } from '../command-line.js'
import type { Output } from '../output.js'
import { currentMapping, mappingFields } from '../wiring/publication.js'
import type { Runtime } from '../wiring/runtime.js'

/** `giving facts`. */
export function registerFacts(program: Command, { storeAction }: CommandLine): void {
  addLongCommand(
    program,
    'facts',
    'list what activities would say although no record and no person states it: how many, examples, reason, clause, how to change it',
  ).action(storeAction(factsFields, listFacts))
}

const factsFields = [...mappingFields, 'unset'] as const

async function listFacts(runtime: Runtime<(typeof factsFields)[number]>, output: Output): Promise<number> {
  const { store, config, clock, signal } = runtime
  const { countAssumptions } = await import('../../release/render/count-assumptions.js')
  const mapping = { ...(await currentMapping(runtime)), unset: config.unset }
  const counted = await output.withProgress((update) =>
    countAssumptions({
      ...{ db: store.db, config: mapping, now: clock(), signal },
      onProgress: (done, total) => update('map', done, total),
    }),
  )
  return output.result(counted, () => [
    `${counted.activities} activities; what they say although nobody states it:`,
    ...counted.facts.flatMap(describe),
    ...(counted.facts.length === 0 ? ['nothing'] : []),
  ])
}

function describe({ name, element, states, count, examples, reason, clause, change }: CountedAssumption): string[] {
  return [
    `${name}: ${element} ${states}, in ${count} (${examples.join(', ')})`,
    `  ${reason} (${clause})`,
    `  to change it: ${change}`,
  ]
}
