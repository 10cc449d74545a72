import { ServiceError } from '../../kernel/errors.js'

// Wrong user or password, no such database, no right, no such parameter.
const refusingStates = /^(28|3D000|42501|22023|42704)/

// Poolers report these as any failure of a connection (08P01), and drivers without a code: the message tells them apart.
const refusingMessages =
  /unsupported startup parameter|no such (database|user)|^database ".*" does not exist|bouncer config error|not allowed in statement pooling|server login failed: .*(authentication failed|does not exist)|SASL authentication failed|client password must be a string|does not support SSL|SSL required/i

const certificates =
  /^(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_.*|CERT_.*|ERR_TLS_CERT_ALTNAME_INVALID)$/

/** Whether this is the code of a server that cannot prove who it is. */
export function isUnproven(code: string): boolean {
  return certificates.test(code)
}

/** Whether no waiting helps against a failure to connect: a person has to change the address, or the server. */
export function isRefused(code: string, message: string): boolean {
  return refusingStates.test(code) || isUnproven(code) || refusingMessages.test(message)
}

/** The failure of a connection that waiting does not help against. */
export function refusedConnection(message: string, cause: unknown): ServiceError {
  return new ServiceError('database-refused', `DATABASE_URL: the database refuses this service: ${message}`, { cause })
}
