import type { Clock } from '../../kernel/dates.js'
import type { Config } from '../../platform/config/config.js'
import type { Db } from '../../platform/database/connection.js'
import { createReleaseReader } from '../../release/read/release-reader.js'
import { registerNew } from './register.js'
import { usingRegistry } from './using-registry.js'

type TellingDeps = {
  readonly config: Config
  readonly db: Db
  readonly clock: Clock
  readonly telling: { readonly feedsDir: string; readonly refusal: () => Promise<string | undefined> }
}

/** Registers what the live release has that is new, and says what it did. */
export async function tellRegistry(
  { config, db, clock, telling: { feedsDir, refusal } }: TellingDeps,
  signal: AbortSignal,
): Promise<string> {
  if (!(await createReleaseReader(feedsDir).live())) return 'nothing published yet'
  const register = () =>
    usingRegistry({ config, feedsDir }, { dryRun: false }, (deps) => registerNew({ ...deps, db, clock }, signal))
  return (await refusal()) ?? (await register())
}
