import { normalizeIP } from '@fastify/rate-limit'

const known = new Map<string, string>()
const mostKnown = 10_000

/** What limits count a client by: its IPv4 address, or the network (/64) of its IPv6 address, which one household has. */
export function clientNetwork(address: string): string {
  const found = known.get(address)
  if (found !== undefined) return found
  if (known.size >= mostKnown) known.clear()
  const network = normalizeIP(address)
  known.set(address, network)
  return network
}
