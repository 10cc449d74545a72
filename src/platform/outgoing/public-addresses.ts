import { type LookupAddress, type LookupOptions, lookup } from 'node:dns'
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net'
import { ServiceError } from '../../kernel/errors.js'

// IANA special-purpose registries: everything that is not a public unicast address.
const special = new BlockList()
const ipv4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4'],
]
// Within 2000::/3: Teredo, benchmarking and the like, documentation, 6to4 (which wraps any IPv4 address).
const ipv6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']
for (const network of [...ipv4, ...ipv6]) {
  const [address = '', bits] = network.split('/')
  special.addSubnet(address, Number(bits), isIPv6(address) ? 'ipv6' : 'ipv4')
}
const publicIpv6 = new BlockList()
publicIpv6.addSubnet('2000::', 3, 'ipv6')

/** Whether an IP address is a public one: not private, loopback, link-local, multicast, mapped or reserved. */
function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !special.check(address, 'ipv4')
  // Mapped and translated IPv4 addresses (::ffff:0:0/96, 64:ff9b::/96) lie outside 2000::/3.
  return family === 6 && publicIpv6.check(address, 'ipv6') && !special.check(address, 'ipv6')
}

// Names that lead to the machine itself or its own network (RFC 6761, RFC 6762, RFC 8375, ICANN's `internal`), and names of one label.
const hiddenName = /(?:^|\.)(?:localhost|local|internal|home\.arpa|invalid|test)\.?$|^[^.]+\.?$/i

/** Whether other networks may reach the host of a URL, as far as its name or literal address tells. */
export function isPublicHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  return isIP(host) === 0 ? !hiddenName.test(host) : isPublicAddress(host)
}

/**
 * Checks an address that came from data before it is fetched: http or https, no credentials, no literal private
 * address, and one of these hosts where they are named. What a name resolves to is checked by {@link publicLookup} at the moment of connecting. Throws
 * `address-refused`.
 */
export function checkAddress(url: URL, allowPrivate: boolean, hosts?: readonly string[]): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new ServiceError('address-refused', `expected an http or https address, got one with ${url.protocol}`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new ServiceError('address-refused', `the address of ${url.host} carries credentials`)
  }
  if (hosts && !hosts.includes(url.hostname)) {
    throw new ServiceError('address-refused', `expected one of the hosts of UPSTREAM_HOSTS, got ${url.hostname}`)
  }
  const host = url.hostname.replace(/^\[|\]$/g, '')
  // A literal address is connected to without a look-up.
  if (!allowPrivate && isIP(host) !== 0 && !isPublicAddress(host)) throw refused(host, host)
}

/** A name look-up for connections that fails when any of the name's addresses is not public. */
export const publicLookup: LookupFunction = (hostname, options: LookupOptions, callback) => {
  lookup(hostname, { ...options, all: true }, (error, found: LookupAddress[]) => {
    if (error) return callback(error, '', 0)
    const bad = found.find(({ address }) => !isPublicAddress(address))
    const [first] = found
    if (bad || !first) return callback(refused(hostname, bad?.address ?? 'nothing'), '', 0)
    if (options.all) return callback(null, found)
    return callback(null, first.address, first.family)
  })
}

function refused(host: string, address: string): ServiceError {
  return new ServiceError(
    'address-refused',
    `${host} leads to ${address}, which is not a public address; ALLOW_PRIVATE_NETWORKS=true would allow it`,
  )
}
