import type { Environment } from './config.js'

/** The process's environment; the only reader of `process.env`. */
export function processEnvironment(): Environment {
  return process.env
}
