import type { Command } from 'commander'
import { ServiceError } from '../domain/errors.js'
import type { Notice } from '../domain/notice.js'
import { mappingNotices } from '../feeds/iati/notices.js'
import { findHeldRendering, type HeldRow, heldRenderings } from '../store/publication/renderings.js'
import { validationCatalogue } from '../validation/index.js'
import { type CommandLine, jsonOption, wholeNumber } from './command-line.js'
import type { Output } from './output.js'
import type { Runtime } from './wiring/runtime.js'

const shownByDefault = 100

/** `giving held`. */
export function registerHeld(program: Command, { storeAction }: CommandLine): void {
  program
    .command('held')
    .description(
      'why projects are not published as they are: the rule, the place, what was expected; exit code 1 when there are some',
    )
    .argument('[id]', 'only this project', wholeNumber)
    .option('--limit <number>', `how many at most; ${shownByDefault} when absent`, wholeNumber)
    .option(...jsonOption)
    .action(storeAction([], held))
}

async function held(
  { store }: Runtime,
  output: Output,
  id: number | undefined,
  { limit = shownByDefault }: { limit?: number },
): Promise<number> {
  const one = id === undefined ? undefined : await findHeldRendering(store.db, id)
  if (id !== undefined && !one) throw new ServiceError('not-found', `project ${id} is not held`)
  const { count, sample } = one ? { count: 1, sample: [one] } : await heldRenderings(store.db, limit)
  const projects = sample.map(({ notices, ...row }) => ({ ...row, notices: notices.filter(isError).map(withRule) }))
  output.result({ count, projects }, () => [
    ...projects.flatMap(describe),
    ...(count > projects.length ? [`${count - projects.length} more: see --limit`] : []),
    ...(count === 0 ? ['no project is held'] : []),
  ])
  return count === 0 ? 0 : 1
}

function isError({ severity }: Notice): boolean {
  return severity === 'error'
}

type Explained = Pick<Notice, 'code' | 'path' | 'detail'> & { readonly rule: string }

function withRule({ code, path, detail }: Notice): Explained {
  const known: Readonly<Record<string, { readonly sentence: string }>> = { ...mappingNotices, ...validationCatalogue }
  return { code, rule: known[code]?.sentence ?? '', path, detail }
}

function describe({
  projectId,
  identifier,
  stillPublished,
  notices,
}: Omit<HeldRow, 'notices'> & { readonly notices: readonly Explained[] }): string[] {
  const state = stillPublished ? 'its last valid text stays published' : 'it was never published'
  return [
    `${projectId}  ${identifier}: ${state}`,
    ...notices.flatMap(({ code, rule, path, detail }) => [`  ${code}  ${rule}`, `    ${path}: ${detail}`]),
  ]
}
