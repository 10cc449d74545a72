import type { Environment } from './config.js'

/** The process's environment; the only reader of `process.env`. */
export function processEnvironment(): Environment {
  return process.env
}

// Not of the configuration: the supervisor of a worker sets it for the processes that it starts.
const processName = 'GIVING_WORKER_PROCESS'

/** The environment of a process that a worker's supervisor starts. */
export function environmentOfProcess(environment: Environment, number: number): Environment {
  return { ...environment, [processName]: String(number) }
}

/** The number of this process among those of a worker; undefined where it is none of several. */
export function processNumber(environment: Environment): number | undefined {
  const number = environment[processName]
  return number === undefined ? undefined : Number(number)
}
