import type { Command } from 'commander'
import { ServiceError } from '../../kernel/errors.js'
import { messageOf } from '../../kernel/system-errors.js'
import { findLineage } from '../../platform/database/connection.js'
import { forgetFact } from '../../platform/database/facts.js'
import { restoredProblem } from '../../release/operate/restored-database.js'
import { addCommand, type CommandLine } from '../command-line.js'
import { labelled, type Output } from '../output.js'
import { audited } from '../wiring/audit.js'
import type { Runtime } from '../wiring/runtime.js'
import { shareSeenOnce } from '../wiring/shared-folders.js'

/** `giving database`. */
export function registerDatabase(program: Command, { storeAction }: CommandLine): void {
  const database = program
    .command('database')
    .description('show which database this is; use one that is an older primary or was restored')
  addCommand(
    database,
    'show',
    'show which database this is; exit code 1 when a newer one was seen, or it was restored',
  ).action(storeAction(['bucket'], show, { migrate: false }))
  addCommand(
    database,
    'accept',
    'use this database although a newer one was seen or it was restored; without --confirm show what follows, exit code 1 when it needs --confirm',
  )
    .option('--confirm', 'use it', false)
    .action(storeAction(['bucket'], accept, { migrate: false }))
}

/** Which database it is, and the reasons not to write to it. */
async function look(runtime: Runtime) {
  const { store, fence } = runtime
  const unknown = await shareSeenOnce(runtime)
  const lineage = await findLineage(store.db)
  return {
    lineage,
    seen: lineage && fence?.seen(lineage.system),
    refusal: fence?.refusal,
    restored: await restoredProblem(store.db),
    unknown,
  }
}

async function show(runtime: Runtime, output: Output): Promise<number> {
  const { lineage, seen, refusal, restored, unknown } = await look(runtime)
  const problems = [refusal, restored, unknown].filter((one) => one !== undefined)
  return output.result(
    { ...lineage, seen, problems },
    () => [
      ...labelled(
        [
          ['system', lineage?.system ?? 'the server does not tell'],
          ['timeline', lineage && String(lineage.timeline)],
          ['newest seen', seen === undefined ? undefined : String(seen)],
        ],
        14,
      ),
      ...problems,
    ],
    { code: problems.length > 0 ? 1 : 0 },
  )
}

/** Exit code 0 when there is no reason against the database or it is accepted, 1 when that needs --confirm. */
async function accept(runtime: Runtime, output: Output, { confirm }: { readonly confirm: boolean }): Promise<number> {
  const { fence, clock } = runtime
  const { lineage, seen, refusal, restored, unknown } = await look(runtime)
  if (refusal === undefined && restored === undefined) {
    return output.result({ accepted: false, confirmed: true }, () => 'nothing stands against this database')
  }
  if (confirm) {
    if (refusal !== undefined && lineage && fence) {
      try {
        fence.accept(lineage, clock())
      } catch (cause) {
        throw new ServiceError('storage-failed', `cannot record that this database is used: ${messageOf(cause)}`, {
          cause,
        })
      }
    }
    const event = { action: 'database-accepted', details: { timeline: lineage?.timeline ?? 0 } } as const
    await audited(runtime, event, (db) => forgetFact(db, 'restored-behind'))
    await shareSeenOnce(runtime)
  }
  return output.result(
    { accepted: confirm, confirmed: confirm },
    () => [
      ...(refusal === undefined
        ? []
        : [
            `timeline ${lineage?.timeline} is used from now on: what was written at timeline ${seen} is not in it`,
            'stop the other primary first: processes that still reach it refuse this one again',
          ]),
      ...(restored === undefined ? [] : ['giving status no longer says that the database was restored']),
      ...(unknown === undefined ? [] : [unknown]),
      'donations that it lacks are entered from their charges: giving books reconcile',
      confirm ? 'done' : 'nothing was changed: repeat the command with --confirm',
    ],
    { code: confirm ? 0 : 1 },
  )
}
