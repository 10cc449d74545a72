import { demoProjects, firstDemoId, isDemoPublisher } from '../../kernel/demo-publisher.js'
import { ServiceError } from '../../kernel/errors.js'
import { findPublisher, recordPublisher } from '../../platform/database/publisher.js'
import { knowsReleasesOf } from '../../work/sql/run-sequence.js'
import type { FolderDeps } from '../publication.js'
import { publisherOfRelease } from '../read/publisher-of-release.js'
import { identifiersOf } from '../read/release-contents.js'
import { createReleaseReader, type ReadableRelease } from '../read/release-reader.js'
import { inventedProjects } from '../sql/invented-projects.js'

/**
 * Where nobody is recorded yet, records the publisher of the live release. The release of a trial or of another database is
 * ignored.
 */
export async function recordPublisherOfRelease({ store, feedsDir, clock }: FolderDeps): Promise<void> {
  if (await findPublisher(store.db)) return
  const live = await createReleaseReader(feedsDir).live()
  if (!live || isDemoPublisher(live.manifest.publisher.ref)) return
  const publisher = (await knowsReleasesOf(store.db, live.manifest.publisher.ref)) && (await publisherOfRelease(live))
  if (publisher) await store.transaction((db) => recordPublisher(db, publisher, clock()))
}

/**
 * Throws `demo-data-refused` for a release of a trial, or with invented activities, that was to be made live under a real
 * publisher, and `publisher-differs` for one of another publisher than the store's. `publisherRef`: as it is configured.
 */
export async function refuseOthersRelease(
  { store }: Pick<FolderDeps, 'store'>,
  release: ReadableRelease,
  publisherRef: string | undefined,
): Promise<void> {
  const recorded = await findPublisher(store.db)
  const ours = recorded?.ref ?? publisherRef
  if (isDemoPublisher(ours)) return
  const { ref } = release.manifest.publisher
  const invented = isDemoPublisher(ref) ? `it is of the trial publisher ${ref}` : await describeInvented(store, release)
  if (invented !== undefined) {
    const message = `release ${release.id} is not made live under ${ours}: ${invented}, whose data is invented`
    throw new ServiceError('demo-data-refused', message)
  }
  if (recorded && recorded.ref !== ref) {
    const message = `release ${release.id} is of ${ref}, and this store publishes as ${recorded.ref}: publish again instead`
    throw new ServiceError('publisher-differs', message)
  }
}

async function describeInvented({ db }: FolderDeps['store'], release: ReadableRelease): Promise<string | undefined> {
  const range = { from: firstDemoId, to: firstDemoId + demoProjects - 1 }
  for await (const batch of identifiersOf(release)) {
    const ids = batch.map(({ projectId }) => projectId)
    const [first] = await inventedProjects(db, ids, range)
    if (first !== undefined) return `it has projects of the demo, such as ${batch[ids.indexOf(first)]?.identifier}`
  }
  return undefined
}
