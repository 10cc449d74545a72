import { isIPv6 } from 'node:net'
import { describe, expect, test } from 'vitest'
import { checkAddress, publicLookup } from '../../../../src/platform/outgoing/public-addresses.js'

const check = (address: string) => checkAddress(new URL(`http://${isIPv6(address) ? `[${address}]` : address}/`), false)

describe('an IP address', () => {
  test.each([
    '8.8.8.8',
    '1.1.1.1',
    '172.15.0.1',
    '172.32.0.1',
    '100.63.0.1',
    '2606:4700::1111',
    '2a00:1450:4001::200e',
  ])('%s is public', (address) => expect(() => check(address)).not.toThrow())
  test.each([
    ...[
      '0.0.0.0',
      '10.1.2.3',
      '100.64.0.1',
      '127.0.0.1',
      '127.9.9.9',
      '169.254.169.254',
      '172.16.0.1',
      '172.31.255.255',
    ],
    ...['192.168.1.1', '192.0.2.1', '198.18.0.1', '198.51.100.7', '203.0.113.9', '224.0.0.1', '255.255.255.255'],
    ...['::', '::1', 'fe80::1', 'fc00::1', 'fd12::1', 'fec0::1', 'ff02::1', '::ffff:127.0.0.1', '::ffff:8.8.8.8'],
    ...['64:ff9b::7f00:1', '2001::1', '2001:db8::1', '2002:7f00:1::'],
  ])('%s is not', (address) => expect(() => check(address)).toThrow('which is not a public address'))
})

describe('an address from data', () => {
  test.each([
    'http://127.0.0.1/x',
    'http://[::1]:8080/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://169.254.169.254/latest/meta-data',
    'http://user:password@giving.example/',
    'ftp://giving.example/',
    'file:///etc/passwd',
  ])('%s is refused', (address) => {
    expect(() => checkAddress(new URL(address), false)).toThrow(expect.objectContaining({ code: 'address-refused' }))
  })

  test('may lead inside where the operator says so, but only by http', () => {
    expect(() => checkAddress(new URL('http://127.0.0.1/x'), true)).not.toThrow()
    expect(() => checkAddress(new URL('file:///etc/passwd'), true)).toThrow()
  })

  test.each([true, false])('fails at the look-up of a name that leads inside (all: %s)', async (all) => {
    const error = await new Promise((resolve) => publicLookup('localhost', { all }, resolve))
    expect(error).toMatchObject({ code: 'address-refused' })
  })
})
