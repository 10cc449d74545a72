import { readdir, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { listReleaseIds, liveReleaseId, type ReleaseFolder, runOfRelease } from './release-folder.js'
import { isErrno, toStorageError } from './storage-errors.js'

// How long a release stays readable after it was superseded, and a held one after a newer release went live.
const graceMs = 48 * 3_600_000
// Newer held releases make older ones pointless.
const maxHeld = 3

/** What the sweep must leave: the newest `keep` releases and the `needed` ones. */
export type SweepOptions = { readonly keep: number; readonly now: Date; readonly needed: readonly string[] }

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
    const held = await removableHeld(folder, options.now, live)
    for (const id of held) await remove(folder.held, id)
    return held
  } catch (error) {
    throw toStorageError(error, folder.root)
  }
}

async function removableReleases(folder: ReleaseFolder, options: SweepOptions, live?: string): Promise<string[]> {
  const releases = await listReleaseIds(folder.releases)
  const removable: string[] = []
  for (const [index, id] of releases.entries()) {
    const successor = releases[index - 1]
    if (index < options.keep || id === live || options.needed.includes(id) || !successor) continue
    if (options.now.getTime() - (await sealedAt(folder.releases, successor)) > graceMs) removable.push(id)
  }
  return removable
}

async function removableHeld(folder: ReleaseFolder, now: Date, live?: string): Promise<string[]> {
  const held = await listReleaseIds(folder.held)
  if (live === undefined) return held.slice(maxHeld)
  const liveMs = now.getTime() - (await sealedAt(folder.releases, live))
  return held.filter((id, index) => index >= maxHeld || (runOfRelease(id) < runOfRelease(live) && liveMs > graceMs))
}

/** Epoch milliseconds; 0 for a directory whose removal was interrupted. */
async function sealedAt(directory: string, id: string): Promise<number> {
  try {
    return (await stat(path.join(directory, id, 'manifest.json'))).mtimeMs
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return 0
    throw error
  }
}
