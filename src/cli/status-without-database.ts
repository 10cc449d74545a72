import path from 'node:path'
import type { ServiceError } from '../kernel/errors.js'
import { type Environment, readConfig } from '../platform/config/config.js'
import { createReleaseReader } from '../release/read/release-reader.js'
import { publicationSchedule } from '../release/run.js'
import { nextDue } from '../work/schedule.js'
import type { Output } from './output.js'

/**
 * `giving status` while the database cannot be reached: what the configuration and the published files show, in the shape
 * of the whole status without the rest. Returns the exit code, which is 1.
 */
export async function reportWithoutDatabase(
  environment: Environment,
  failure: ServiceError,
  output: Output,
): Promise<number> {
  const { config } = readConfig(environment, ['dataDir', 'database', 'publish'])
  const live = await createReleaseReader(path.join(config.dataDir, 'feeds')).live()
  const manifest = live?.manifest
  const next = nextDue(publicationSchedule(config), new Date())
  const held = manifest?.held
  const status = {
    database: { kind: config.database.kind, reachable: false, error: failure.message },
    nextRun: next,
    live: manifest && {
      release: manifest.release,
      generated: manifest.generated,
      activities: manifest.totals.activities,
    },
    held: { count: held?.count ?? 0, sample: held?.sample.map(({ identifier }) => identifier).slice(0, 10) ?? [] },
    needs: [failure.message],
  }
  output.result(status, () => [
    `database:       unreachable (${config.database.kind})`,
    `live release:   ${live ? `${live.id}, ${manifest?.totals.activities} activities` : 'none'}`,
    `next run:       ${next.toISOString()}`,
    'needs a person: ',
    `  - ${failure.message}`,
  ])
  return 1
}
