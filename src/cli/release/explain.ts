import type { Command } from 'commander'
import { isoInstantOf } from '../../kernel/dates.js'
import { addCommand, type CommandLine, orNotFound } from '../command-line.js'
import type { Output } from '../output.js'
import { type ExplainedElement, explainProject } from '../wiring/explained-project.js'
import { numberOf } from '../wiring/named-row.js'
import { currentMapping, mappingFields } from '../wiring/publication.js'
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
    .action(storeAction(explainFields, explain))
}

const explainFields = [...mappingFields, 'unset'] as const

async function explain(
  runtime: Runtime<(typeof explainFields)[number]>,
  output: Output,
  name: string,
  element: string | undefined,
): Promise<number> {
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

function describeOrigin(origin: ExplainedElement['origins'][number]): string {
  if ('source' in origin) return `${origin.record}: ${origin.source}`
  if ('month' in origin) {
    const from = origin.files.length === 0 ? '' : `, from ${origin.files.join(', ')}`
    return `${origin.month} ${origin.kind}: ${origin.amount} ${origin.currency} in the books${from}`
  }
  const by = origin.import === undefined ? '' : `, import ${origin.import} of ${isoInstantOf(origin.at)}`
  const set = origin.set === undefined ? '' : ` (${origin.set.join(', ')})`
  return `${origin.record}: ${origin.file}, line ${origin.line}${by}${set}`
}
