import path from 'node:path'
import { type Environment, readConfig } from '../../platform/config/config.js'
import { isForPeople } from '../../platform/observability/log.js'

/** The commands that run until they are stopped. */
export type ServiceName = 'api' | 'worker' | 'start'

/** What a service says first. */
export function firstLine(serves: ServiceName, dataDir: string): string {
  return `giving ${serves}: data directory ${path.resolve(dataDir)}`
}

/**
 * Says it to a person before the modules of the service are loaded, which takes longer than a second. A wrong configuration
 * is told later, with all that is wrong.
 */
export function tellPerson(environment: Environment, serves: ServiceName, note: (text: string) => void): void {
  try {
    const { dataDir, logFormat } = readConfig(environment, ['dataDir', 'logFormat'])
    if (isForPeople(logFormat)) note(firstLine(serves, dataDir))
  } catch {
    return
  }
}
