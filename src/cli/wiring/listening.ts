import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { ServiceError } from '../../kernel/errors.js'
import { errnoOf, messageOf } from '../../kernel/system-errors.js'
import type { Config } from '../../platform/config/config.js'
import { findFact } from '../../platform/database/facts.js'
import type { Runtime } from './runtime.js'

/** The fields of the configuration that the public address follows from. */
export const baseUrlFields = ['baseUrl', 'host', 'port', 'tls'] as const

/** The public address: configured, or where the API process last listened, or where it will listen. */
export async function resolveBaseUrl({ config, store }: Runtime): Promise<string> {
  if (config.baseUrl !== undefined) return config.baseUrl
  return (await findFact(store.db, 'base-url')) ?? listeningUrl(config, config.port)
}

/** How a person reaches a server that listens on this host and port. */
export function listeningUrl({ host, tls }: Pick<Config, 'host' | 'tls'>, port: number): string {
  const reachable = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  return `${tls === undefined ? 'http' : 'https'}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}

/** Certificate and key, read once at the start. Throws `configuration-invalid` when one cannot be read. */
export async function readCertificate({
  tls,
}: Pick<Config, 'tls'>): Promise<{ cert: Buffer; key: Buffer } | undefined> {
  if (tls === undefined) return undefined
  try {
    const [cert, key] = await Promise.all([readFile(tls.certFile), readFile(tls.keyFile)])
    createSecureContext({ cert, key })
    return { cert, key }
  } catch (cause) {
    const reason = messageOf(cause)
    const message = `TLS_CERT_FILE and TLS_KEY_FILE: expected a certificate and its key in PEM files: ${reason}`
    throw new ServiceError('configuration-invalid', message, { cause })
  }
}

const listenReasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program is listening there',
  EACCES: 'this user may not listen there',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'the host name is unknown',
}

/** A failure to listen as `configuration-invalid` with its reason, where the operator can do something about it. */
export function toListenError(error: unknown, host: string, port: number, variables: string): unknown {
  const code = errnoOf(error) ?? ''
  const reason = listenReasons[code]
  if (!reason) return error
  return new ServiceError('configuration-invalid', `cannot listen on ${host}:${port}: ${reason}; set ${variables}`, {
    cause: error,
  })
}
