import type { Clock } from '../domain/dates.js'
import type { Log } from '../observability/log.js'
import type { BulkReader } from '../publishing/bulk-reader.js'
import type { ReleaseReader } from '../publishing/releases.js'
import type { RunSummary } from '../store/runs.js'
import type { Store } from '../store/store.js'
import type { PasswordHashing } from './passwords.js'

/** Everything that the API works with; nothing else reaches it. */
export type ApiDeps = {
  readonly store: Store
  readonly releases: ReleaseReader
  readonly bulk: BulkReader
  /** The newest publication runs, newest first. */
  readonly listRuns: (limit: number) => Promise<readonly RunSummary[]>
  readonly clock: Clock
  readonly log: Log
  readonly passwords: PasswordHashing
  readonly config: ApiConfig
}

export type ApiConfig = {
  /** Public address without trailing slash; a function, since the port may be known only after listening. */
  readonly baseUrl: () => string
  /** Name of the publisher, shown to people. */
  readonly publisherName: string
  /** Addresses of proxies whose `X-Forwarded-*` headers are believed; false: none. */
  readonly trustProxy: boolean | string
}
