import { readdirSync, readlinkSync, statSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ReleaseFolder, runOfRelease } from '../../../src/release/folder/release-folder.js'

/** Parts of a publication that a kill can be aimed at, in their order. */
export const aims = ['render', 'assemble', 'fsync', 'rename', 'after commit'] as const
export type Aim = (typeof aims)[number]

/** What a folder of published files shows of a run from outside. */
export type Traces = {
  /** Process that writes the run's draft. */
  readonly writer: number | undefined
  readonly draft: boolean
  /** The draft's manifest is there: what is left to do is to sync and to rename. */
  readonly written: boolean
  readonly sealed: boolean
  readonly live: boolean
}

/** Looks at the folder once, at what this run has left there. */
export function tracesOf(folder: ReleaseFolder, runId: number): Traces {
  const isOfRun = (name: string) => runOfRelease(name.split('.')[0] ?? '') === runId
  const draft = names(folder.drafts).find(isOfRun)
  return {
    // A draft is called `{release}.{process}.{chance}`.
    writer: draft === undefined ? undefined : Number(draft.split('.')[1]),
    draft: draft !== undefined,
    written: draft !== undefined && isThere(path.join(folder.drafts, draft, 'manifest.json')),
    sealed: names(folder.releases).some(isOfRun),
    live: isOfRun(liveName(folder)),
  }
}

/**
 * Waits until the run has come to the part of the publication that is aimed at, or past it, or `over` says that it
 * never will. Looks every millisecond: the parts take few. Returns the process that was seen to write.
 */
export async function reach(
  folder: ReleaseFolder,
  runId: number,
  aim: Exclude<Aim, 'render'>,
  over: () => boolean,
): Promise<number | undefined> {
  let writer: number | undefined
  for (;;) {
    const traces = tracesOf(folder, runId)
    writer = traces.writer ?? writer
    if (traces.live || over()) return writer
    if (aim === 'assemble' && traces.draft) return writer
    if (aim === 'fsync' && (traces.written || traces.sealed)) return writer
    if (aim === 'rename' && traces.sealed) return writer
    await sleep(1)
  }
}

/** Where a publication stood that left these traces, for the campaign's table. */
export function standing(traces: Traces, ended: boolean, recorded: boolean): string {
  if (ended) return 'run ended'
  if (traces.live) return recorded ? 'recorded' : 'switched'
  if (traces.sealed) return 'sealed'
  if (traces.written) return 'draft complete'
  return traces.draft ? 'draft begun' : 'rendering'
}

function names(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

function isThere(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false }) !== undefined
}

function liveName(folder: ReleaseFolder): string {
  try {
    return path.basename(readlinkSync(folder.current))
  } catch {
    return ''
  }
}
