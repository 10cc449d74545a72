import path from 'node:path'
import { type Environment, readConfig } from '../../platform/config/config.js'
import { createLog, tellOperator } from '../../platform/observability/log.js'

/** The commands that run until they are stopped. */
export type ServiceName = 'api' | 'worker' | 'start'

/**
 * What a service says before its modules are loaded, which takes longer than a second. A wrong configuration is told later,
 * with all that is wrong.
 */
export function tellFirst(environment: Environment, serves: ServiceName, note: (text: string) => void): void {
  try {
    const { dataDir, logFormat, logLevel } = readConfig(environment, ['dataDir', 'logFormat', 'logLevel'])
    const tell = tellOperator(createLog(logLevel, logFormat), logFormat, note)
    tell(`giving ${serves}: data directory ${path.resolve(dataDir)}`)
  } catch {
    return
  }
}
