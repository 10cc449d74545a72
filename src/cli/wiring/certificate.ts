import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { ServiceError } from '../../kernel/errors.js'
import type { ConfigOf } from '../../platform/config/config.js'

/** Certificate and key, read once at the start. Throws `configuration-invalid` when one cannot be read. */
export async function readCertificate({ tls }: ConfigOf<'tls'>): Promise<{ cert: Buffer; key: Buffer } | undefined> {
  if (tls === undefined) return undefined
  try {
    const [cert, key] = await Promise.all([readFile(tls.certFile), readFile(tls.keyFile)])
    createSecureContext({ cert, key })
    return { cert, key }
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    const message = `TLS_CERT_FILE and TLS_KEY_FILE: expected a certificate and its key in PEM files: ${reason}`
    throw new ServiceError('configuration-invalid', message, { cause })
  }
}
