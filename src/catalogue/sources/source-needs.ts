import { isoInstantOf } from '../../kernel/dates.js'
import type { HeldFile, Source } from '../sql/import-sources.js'

/** The file of a source that waits for a person; undefined once one has decided. */
export function waitingFile({ held }: { readonly held?: HeldFile | undefined }): HeldFile | undefined {
  return held?.approved ? undefined : held
}

/** What a file that is held would do. */
export function describeHeldFile({ file, changed, gone, before }: HeldFile): string {
  return `${file} would change ${changed} and end ${gone} of ${before} records`
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
