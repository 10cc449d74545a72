import { rename, writeFile } from 'node:fs/promises'
import { manifestPath } from '../../iati/addresses.js'
import { isoInstantOf } from '../../kernel/dates.js'
import { checkedRelease } from '../../kernel/release-chain.js'
import { releaseFolder } from '../folder/release-folder.js'
import { toStorageError } from '../folder/storage-errors.js'
import type { PublicationDeps } from '../publication.js'
import { createReleaseReader } from '../read/release-reader.js'
import { ifPublishingLockIsFree } from '../sql/publishing-lock.js'

/**
 * Writes a signed statement that the live release is up to date, so that readers can tell an unchanged set from one that
 * somebody withholds. Without a key it writes none.
 */
export async function stateChecked(deps: PublicationDeps): Promise<void> {
  const { signer, store, shared } = deps
  if (!signer) return
  if (!shared) return await writeChecked(deps)
  // Whoever has the lock will have checked later.
  await ifPublishingLockIsFree(store, async () => {
    await shared.releases.pull()
    await writeChecked(deps)
    await shared.releases.push()
  })
}

async function writeChecked({ feedsDir, signer, clock }: PublicationDeps): Promise<void> {
  const live = signer && (await createReleaseReader(feedsDir).live())
  const manifest = await live?.find(manifestPath)
  if (!signer || !live || !manifest) return
  const { checked } = releaseFolder(feedsDir)
  const facts = { release: live.id, manifestSha256: manifest.sha256, checkedAt: isoInstantOf(clock()) }
  try {
    await writeFile(`${checked}.tmp`, `${JSON.stringify(checkedRelease(facts, signer))}\n`)
    await rename(`${checked}.tmp`, checked)
  } catch (error) {
    throw toStorageError(error, checked)
  }
}
