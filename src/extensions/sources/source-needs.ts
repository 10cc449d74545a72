import { type HeldFile, listSources, type Source } from '../../catalogue/sql/import-sources.js'
import type { ExtensionState } from '../../cli/service-state.js'
import { isoInstantOf } from '../../kernel/dates.js'
import type { Db } from '../../platform/database/connection.js'

/** The file of a source that waits for a person; undefined once one has decided. */
export function waitingFile({ held }: { readonly held?: HeldFile | undefined }): HeldFile | undefined {
  return held?.approved ? undefined : held
}

/** Why a file is held: what it would do to records and money, and that it may have been cut. */
export function describeHeldFile({ file, changed, gone, before, ending, money = [] }: HeldFile): string {
  const sums = money.map(
    (one) => `; ${one.currency} ${one.kind} of its months: ${one.before} now, ${one.after} afterwards`,
  )
  const would = `would change ${changed} and end ${gone} of ${before} records${sums.join('')}`
  if (ending === undefined) return `${file} ${would}`
  const lacks = [
    ...(ending.includes('open') ? ['no end of line'] : []),
    ...(ending.includes('short') ? ['fewer cells than others'] : []),
  ]
  return `${file} may have been cut, since its last row has ${lacks.join(' and ')}; it ${would}`
}

/** What needs a person: files that are held, and sources that could not be read. */
export function sourceNeeds(sources: readonly Source[]): string[] {
  return sources.flatMap((source) => {
    const { name, outcome, message, triedAt } = source
    const held = waitingFile(source)
    if (held) {
      return [
        `source ${name} is held since ${held.since}: ${describeHeldFile(held)}: giving sources approve ${name}, or giving sources refuse ${name}`,
      ]
    }
    if (outcome !== 'failed') return []
    return [
      `source ${name} could not be read${triedAt ? ` at ${isoInstantOf(triedAt)}` : ''}: ${message} (giving sources show ${name})`,
    ]
  })
}

/** For `giving status` and alarms. */
export async function lookAtSources(db: Db): Promise<ExtensionState> {
  return { needs: sourceNeeds(await listSources(db)).map((message) => ({ cause: 'sources', message })), warnings: [] }
}
