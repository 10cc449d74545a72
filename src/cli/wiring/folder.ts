import { isDemoPublisher } from '../../kernel/demo-publisher.js'
import { ServiceError } from '../../kernel/errors.js'
import type { Config } from '../../platform/config/config.js'
import { folderRefusal } from '../../release/operate/folder-of-store.js'
import type { Runtime } from './runtime.js'

/** Why any folder may be published into; undefined where the store has one only. */
export function anyFolderBecause({ database, reportingOrg, bucket }: Config): string | undefined {
  if (isDemoPublisher(reportingOrg.ref)) return 'a trial may use any folder'
  // The database and the folder lie in one data directory, so they belong together.
  if (database.kind === 'embedded') return 'the service has a PostgreSQL of its own'
  return bucket?.isFolder ? 'each machine has a copy of what the bucket says (FEEDS_S3_IS_FOLDER)' : undefined
}

/** Why this process may not publish into its folder; undefined where it may. */
export async function ownFolderRefusal({ config, store, feedsDir }: Runtime): Promise<string | undefined> {
  return anyFolderBecause(config) === undefined ? await folderRefusal({ store, feedsDir }) : undefined
}

/** Throws `folder-differs` where this process may not publish into its folder. */
export async function refuseOthersFolder(runtime: Runtime): Promise<void> {
  const refusal = await ownFolderRefusal(runtime)
  if (refusal !== undefined) throw new ServiceError('folder-differs', refusal)
}
