import type { Command } from 'commander'
import { describeOrigin, type ExplainedElement } from '../../http/pages/explained.js'
import { addCommand, type CommandLine, orNotFound } from '../command-line.js'
import type { Output } from '../output.js'
import { factsFields } from '../wiring/assumed-facts.js'
import { explainProject } from '../wiring/explained-project.js'
import { currentMapping } from '../wiring/mapping.js'
import { numberOf } from '../wiring/named-row.js'
import type { Runtime } from '../wiring/runtime.js'

/** `giving explain`. */
export function registerExplain(program: Command, { storeAction }: CommandLine): void {
  addCommand(
    program,
    'explain',
    'say why the activity of a project says what it says: each value, its clause, its fields, the line of the file that they came from, what is assumed',
  )
    .argument('<id>', 'number or externalId of the project')
    .argument(
      '[element]',
      'only this child of the activity, such as activity-date, or attribute, such as @humanitarian',
    )
    .action(storeAction(factsFields, explain))
}

async function explain(runtime: Runtime, output: Output, name: string, element: string | undefined): Promise<number> {
  const { store, config, clock } = runtime
  const id = await numberOf(store.db, 'project', name)
  const mapping = { ...(await currentMapping(runtime)), unset: config.unset }
  const all = orNotFound(await explainProject(store.db, mapping, clock(), id), `there is no project ${id}`)
  const wanted = all.elements.filter((one) => element === undefined || one.element === element)
  const known = all.elements.map((one) => one.element).join(', ')
  orNotFound(wanted[0], `the activity of project ${id} has no ${element}: expected one of ${known}`)
  return output.result({ ...all, elements: wanted }, () => [
    `${all.identifier}, as it would be published now`,
    ...wanted.flatMap(describe),
  ])
}

function describe({ element, values, clauses, fields, origins, assumed }: ExplainedElement): string[] {
  return [
    `${element}  (${clauses.join(', ')})`,
    ...values.map((value) => `  ${value}`),
    ...(fields.length === 0 ? [] : [`    from ${fields.join(', ')}`]),
    ...origins.map((origin) => `    ${describeOrigin(origin)}`),
    ...assumed.map(({ name, reason, change }) => `    assumed (${name}): ${reason} To change it: ${change}`),
  ]
}
