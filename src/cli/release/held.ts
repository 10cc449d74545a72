import type { Command } from 'commander'
import { isoInstantOf } from '../../kernel/dates.js'
import { ServiceError } from '../../kernel/errors.js'
import { type LeftOutElement, listLeftOut } from '../../release/sql/left-out.js'
import { addCommand, type CommandLine, wholeNumber } from '../command-line.js'
import type { Output } from '../output.js'
import { findHeldProject, fixOf, type HeldProject, listHeldProjects, ruleOf } from '../wiring/held-projects.js'
import { numberOf } from '../wiring/named-row.js'
import type { Runtime } from '../wiring/runtime.js'

const shownByDefault = 100

/** `giving held`. */
export function registerHeld(program: Command, { storeAction }: CommandLine): void {
  addCommand(
    program,
    'held',
    'list the projects that are held: the rule, the place, what was expected, how to fix it, since when; exit code 1 when there are some',
  )
    .argument('[id]', 'only this project: its number or externalId')
    .option('--limit <number>', `how many at most; default: ${shownByDefault}`, wholeNumber)
    .action(storeAction([], held))
}

async function held(
  { store }: Runtime,
  output: Output,
  name: string | undefined,
  { limit = shownByDefault }: { limit?: number },
): Promise<number> {
  const id = name === undefined ? undefined : await numberOf(store.db, 'project', name)
  const one = id === undefined ? undefined : await findHeldProject(store.db, id)
  if (id !== undefined && !one) throw new ServiceError('not-found', `project ${id} is not held`)
  const { count, projects } = one ? { count: 1, projects: [one] } : await listHeldProjects(store.db, limit)
  const organisations = one ? [] : await listLeftOut(store.db)
  return output.result(
    { count, projects, organisations },
    () => [
      ...projects.flatMap(describe),
      ...(count > projects.length ? [`${count - projects.length} more: see --limit`] : []),
      ...(one ? [`giving explain ${one.projectId} says where its values come from`] : []),
      ...(count === 0 ? ['no project is held'] : []),
      ...organisations.flatMap(describeLeftOut),
    ],
    { code: count + organisations.length === 0 ? 0 : 1 },
  )
}

/** An element that the organisation file leaves out. */
function describeLeftOut({ identifier, code, path, detail, file, line }: LeftOutElement): string[] {
  const from = file === undefined ? undefined : { file, ...(line !== undefined && { line }) }
  return [
    `${identifier}: an element of the organisation file is left out`,
    `  ${code}  ${ruleOf(code) ?? ''}`,
    `    ${path}: ${detail}`,
    `    ${fixOf({ fields: [], from })}`,
  ]
}

function describe({ projectId, identifier, stillPublished, since, notices }: HeldProject): string[] {
  const state = stillPublished ? 'its last valid text stays published' : 'it was never published'
  const held = since === undefined ? '' : `, held since ${isoInstantOf(since)}`
  return [
    `${projectId}  ${identifier}: ${state}${held}`,
    ...notices.flatMap(({ code, rule, path, detail, fields, from }) => [
      `  ${code}  ${rule}`,
      `    ${path}: ${detail}`,
      `    ${fixOf({ fields, from })}`,
    ]),
  ]
}
