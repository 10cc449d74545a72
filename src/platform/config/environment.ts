import { readFileSync, statSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { misspelt } from '../../kernel/closest-name.js'
import { ServiceError } from '../../kernel/errors.js'
import { lookupTable } from '../../kernel/lookup-table.js'
import type { Environment } from './config.js'
import { variables } from './variables.js'

/** The process's environment, and before it what `.env` of the current folder has; the only reader of `process.env`. */
export function processEnvironment(): Environment {
  // Not `process.loadEnvFile`: what stands in a file changes no program that this one starts.
  return { ...variablesOfFile('.env'), ...process.env }
}

/** Variables that earlier versions read, and what there is instead. */
const removedVariables = lookupTable({
  OPS_TWO_PERSONS: 'each operator decides alone, and the audit trail keeps who did what and why',
  PICTURES: 'pages link to pictures of other hosts, and you can delete feeds/pictures',
})

/** What an operator should know of names in the environment that earlier versions read, or that look like variables of this service. */
export function unreadVariables(environment: Environment): readonly string[] {
  const known = Object.keys(variables).flatMap((name) => [name, `${name}_FILE`])
  return Object.entries(environment).flatMap(([name, text]) => {
    const instead = text?.trim() ? removedVariables[name] : undefined
    if (instead !== undefined) return [`${name} is set, and no longer exists: ${instead}`]
    const meant = known.includes(name) ? undefined : misspelt(name, known)
    return meant === undefined ? [] : [`${name} is set, but there is no such variable; ${meant} may be meant`]
  })
}

function variablesOfFile(file: string): Environment {
  try {
    return parseEnv(readFileSync(file, 'utf8')) as Environment
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'EISDIR' || (code === 'EACCES' && !mayEnterFolder())) return {}
    throw new ServiceError('configuration-invalid', `${file} cannot be read: ${message}`)
  }
}

/** Whether this account may enter the current folder: one that it may not, such as the home of who called `runuser`, has nothing for it. */
function mayEnterFolder(): boolean {
  try {
    statSync('.')
    return true
  } catch {
    return false
  }
}

// No operator sets it: the supervisor of a worker sets it for the processes that it starts.
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
