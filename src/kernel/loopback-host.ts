import { BlockList, isIPv6 } from 'node:net'

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Whether a host name or address, which a URL may have in brackets, leads to this machine only. */
export function isLoopbackHost(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, '')
  // An IPv4 address of a socket that takes both is written ::ffff:127.0.0.1, which the list understands.
  return host === 'localhost' || loopback.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}
