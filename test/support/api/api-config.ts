import type { ApiConfig } from '../../../src/http/api/deps.js'
import { makeBrand } from '../../../src/http/pages/brand.js'
import { mappingConfig } from '../values/builders.js'

/** The headers of a request that a proxy passes on, which took it over HTTPS. */
export function proxyHeaders(address: string) {
  return { 'x-forwarded-for': address, 'x-forwarded-proto': 'https' }
}

/** No limits that a slow machine could run into. */
export const testConfig: ApiConfig = {
  baseUrl: () => 'https://giving.example',
  publisherName: 'Giving <Platform>',
  brand: makeBrand({}),
  assumed: mappingConfig.assumed,
  trustProxy: false,
  tls: undefined,
  allowPlainHttp: false,
  limits: {
    ...{ connections: 10_000, connectionsPerAddress: 10_000, eventLoopDelayMs: 0 },
    ...{ requestsPerKey: 0, requestsPerAddress: 0, downloadBytesPerSecond: 0 },
  },
  proxyFiles: undefined,
  registration: 'open',
  templates: { language: 'en', operatorsDir: undefined },
  sendsMail: false,
  websubHub: undefined,
  metricsOnApi: true,
  tokenTimeoutSeconds: 36_000,
}
