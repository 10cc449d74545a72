import { ServiceError } from '../../kernel/errors.js'

const listenReasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program is listening there',
  EACCES: 'this user may not listen there',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'the host name is unknown',
}

/** A failure to listen as `configuration-invalid` with its reason, where the operator can do something about it. */
export function toListenError(error: unknown, host: string, port: number, variables: string): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const reason = listenReasons[code]
  if (!reason) return error
  return new ServiceError('configuration-invalid', `cannot listen on ${host}:${port}: ${reason}; set ${variables}`, {
    cause: error,
  })
}
