import type { ConfigOf } from '../../platform/config/config.js'
import { findFact } from '../../platform/database/facts.js'
import type { Runtime } from './runtime.js'

/** The fields of the configuration that the public address follows from. */
export const baseUrlFields = ['baseUrl', 'host', 'port', 'tls'] as const

type BaseUrlField = (typeof baseUrlFields)[number]

/** The public address: configured, or where the API process last listened, or where it will listen. */
export async function resolveBaseUrl({ config, store }: Runtime<BaseUrlField>): Promise<string> {
  if (config.baseUrl !== undefined) return config.baseUrl
  return (await findFact(store.db, 'base-url')) ?? listeningUrl(config, config.port)
}

/** How a person reaches a server that listens on this host and port. */
export function listeningUrl({ host, tls }: ConfigOf<'host' | 'tls'>, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return `${tls === undefined ? 'http' : 'https'}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}
