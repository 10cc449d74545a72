import type { ApiConfig } from '../../src/api/deps.js'

/** No limits that a slow machine could run into. */
export const testConfig: ApiConfig = {
  baseUrl: () => 'https://giving.example',
  publisherName: 'Giving <Platform>',
  trustProxy: false,
  tls: undefined,
  limits: {
    ...{ connections: 10_000, connectionsPerAddress: 10_000, eventLoopDelayMs: 0 },
    ...{ requestsPerKey: 0, requestsPerAddress: 0, downloadBytesPerSecond: 0 },
  },
  tokenTimeoutSeconds: 36_000,
}
