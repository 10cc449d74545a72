import proxyAddress from '@fastify/proxy-addr'
import type { ApiConfig } from './deps.js'

/** Whether the peer `hop` connections away, 0 being the one that is connected to this server, is a trusted proxy. */
export type ProxyTrust = (address: string, hop: number) => boolean

/** The trust that `TRUST_PROXY` describes. */
export function proxyTrustOf(trustProxy: ApiConfig['trustProxy']): ProxyTrust {
  if (typeof trustProxy === 'boolean') return () => trustProxy
  if (typeof trustProxy === 'number') return (_address, hop) => hop < trustProxy
  return proxyAddress.compile(trustProxy.split(','))
}
