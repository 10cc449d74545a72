import type { PublicationDeps } from './publication.js'
import { tidy } from './release/publish-release.js'
import { ifPublishingLockIsFree } from './release/publishing-lock.js'
import { reconcile } from './release/reconcile.js'
import { prepareFolder, releaseFolder } from './release/release-folder.js'

/** Removes drafts of dead writers and releases that nobody needs any more, unless a publication is going on. */
export async function keepHouse(
  deps: Pick<PublicationDeps, 'store' | 'feedsDir' | 'keepReleases' | 'clock'>,
): Promise<void> {
  const folder = releaseFolder(deps.feedsDir)
  await prepareFolder(folder)
  await ifPublishingLockIsFree(deps.store, async () => void (await tidy(deps, folder, await reconcile(deps))))
}
