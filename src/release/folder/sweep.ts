import { readdir, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { ifThere } from '../../kernel/system-errors.js'
import { listReleaseIds, liveReleaseId, type ReleaseFolder, runOfRelease } from './release-folder.js'
import { toStorageError } from './storage-errors.js'

// How long a release stays readable after it was superseded, and a held one after a newer release went live.
const graceMs = 48 * 3_600_000
// Newer held releases make older ones pointless.
const maxHeld = 3

/** When a release went live last, and when another one took its place; undefined while none has. */
type LiveTime = { readonly since: Date; readonly until: Date | undefined }

/**
 * What the sweep must leave: the newest `keep` releases and the `needed` ones. `liveTimes` has the releases that the store knows;
 * the age of others is that of the next one's files.
 */
export type SweepOptions = {
  readonly keep: number
  readonly now: Date
  readonly needed: readonly string[]
  readonly liveTimes?: ReadonlyMap<string, LiveTime>
}

/**
 * Removes what nobody needs any more (docs/reference/retention.md): drafts, superseded releases, held releases that were
 * overtaken. The caller holds the publishing lock, so the writers of all drafts are dead. Returns the ids of removed
 * held releases.
 */
export async function sweep(folder: ReleaseFolder, options: SweepOptions): Promise<string[]> {
  const remove = (...names: string[]) => rm(path.join(...names), { recursive: true, force: true })
  try {
    for (const draft of await readdir(folder.drafts)) await remove(folder.drafts, draft)
    for (const name of await readdir(folder.root)) {
      // A link that was made but not renamed.
      if (/^current\.\d+\.tmp$/.test(name)) await remove(folder.root, name)
    }
    const live = await liveReleaseId(folder)
    for (const id of await removableReleases(folder, options, live)) await remove(folder.releases, id)
    const held = await removableHeld(folder, options, live)
    for (const id of held) await remove(folder.held, id)
    return held
  } catch (error) {
    throw toStorageError(error, folder.root)
  }
}

async function removableReleases(folder: ReleaseFolder, options: SweepOptions, live?: string): Promise<string[]> {
  const { keep, now, needed, liveTimes } = options
  const releases = await listReleaseIds(folder.releases)
  const removable: string[] = []
  for (const [index, id] of releases.entries()) {
    // Not the next in the list: that one may have been held for long, or have been live before.
    const successor = releases[index - 1]
    if (index < keep || id === live || needed.includes(id) || !successor) continue
    const known = liveTimes?.get(id)
    const supersededAt = known ? known.until?.getTime() : await sealedAt(folder.releases, successor)
    if (supersededAt !== undefined && now.getTime() - supersededAt > graceMs) removable.push(id)
  }
  return removable
}

async function removableHeld(
  folder: ReleaseFolder,
  { now, liveTimes }: SweepOptions,
  live?: string,
): Promise<string[]> {
  const held = await listReleaseIds(folder.held)
  if (live === undefined) return held.slice(maxHeld)
  const since = liveTimes?.get(live)?.since.getTime() ?? (await sealedAt(folder.releases, live))
  const liveMs = now.getTime() - since
  return held.filter((id, index) => index >= maxHeld || (runOfRelease(id) < runOfRelease(live) && liveMs > graceMs))
}

/** Epoch milliseconds; 0 for a directory whose removal was interrupted. */
async function sealedAt(directory: string, id: string): Promise<number> {
  return (await ifThere(stat(path.join(directory, id, 'manifest.json'))))?.mtimeMs ?? 0
}
