import type { ApiConfig } from '../../src/api/deps.js'

/** No limits that a slow machine could run into. */
export const testConfig: ApiConfig = {
  baseUrl: () => 'https://giving.example',
  publisherName: 'Giving <Platform>',
  trustProxy: false,
  tls: undefined,
  limits: { requestsPerMinute: 0, eventLoopDelayMs: 0, connections: 10_000, connectionsPerAddress: 10_000 },
  tokenTimeoutSeconds: 36_000,
}
