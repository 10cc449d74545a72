import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { PasswordHashing } from '../../accounts/passwords.js'
import type { Assumptions } from '../../iati/mapping/mapping-config.js'
import type { Clock } from '../../kernel/dates.js'
import type { Turns } from '../../kernel/turns.js'
import type { Payments } from '../../money/payments.js'
import type { Config } from '../../platform/config/config.js'
import type { Replicas } from '../../platform/database/replicas.js'
import type { Store } from '../../platform/database/store.js'
import type { TemplateChoice } from '../../platform/mail/load-template.js'
import type { Log } from '../../platform/observability/log.js'
import type { Metrics } from '../../platform/observability/metrics.js'
import type { IndexReader } from '../../release/read/activity-index.js'
import type { ReleaseReader } from '../../release/read/release-reader.js'
import type { RunSummary } from '../../work/sql/runs.js'
import type { ExplainedProject } from '../pages/explained.js'
import type { Brand, Contact, Language } from '../pages/page.js'

/** Limits of one process. */
export type ApiLimits = {
  /** Connections at a time, of all clients. */
  readonly connections: number
  /** Connections at a time from one address; of IPv6, from one network (/64). */
  readonly connectionsPerAddress: number
  /** Requests of one key in a minute; 0: no limit. */
  readonly requestsPerKey: number
  /** Requests from one address in a minute, published files and health aside; 0: no limit. */
  readonly requestsPerAddress: number
  /** Bytes of published files to one address in a second; 0: no limit. */
  readonly downloadBytesPerSecond: number
  /** API requests are answered with 503 while the event loop lags more than this; 0: never. */
  readonly eventLoopDelayMs: number
}

/** What operations on accounts, keys and tokens work with. */
export type AccessDeps = {
  readonly store: Store
  readonly clock: Clock
  readonly passwords: PasswordHashing
}

/** All dependencies of the API. */
export type ApiDeps = AccessDeps & {
  /** The same database, or standbys of it, for reads that may be some seconds old. */
  readonly reads: Store
  /** The standbys, where there are some. */
  readonly replicas: Replicas | undefined
  /** As `reads`, through separate connections, so that slow searches do not delay other requests. */
  readonly searches: Store
  readonly releases: ReleaseReader
  readonly feedsDir: string
  /** The newest publication runs, newest first. */
  readonly listRuns: (limit: number) => Promise<readonly RunSummary[]>
  /** When the next publication is due; undefined while no schedule is in force, or an operator has paused it. */
  readonly nextRun: () => Promise<Date | undefined>
  /** Why the activity of a project says what it says; absent: pages do without. */
  readonly explain?: ((project: number) => Promise<ExplainedProject | undefined>) | undefined
  readonly log: Log
  readonly payments: Payments
  /** Aborted when the process is asked to stop: `/readyz` is 503 from then on. */
  readonly stopping: AbortSignal
  /** Measures every request; undefined: requests are not measured. */
  readonly metrics?: Metrics
  /** Absent: people find the page for developers alone. */
  readonly openPortal?: OpenPortal | undefined
  readonly config: ApiConfig
}

/** Adds the routes of the portal. */
export type OpenPortal = (
  app: FastifyInstance,
  deps: ApiDeps & {
    readonly readIndex: IndexReader
    /** Pages are drawn in turns. */
    readonly turns: Turns
    readonly takesSubscriptions: boolean
  },
) => Promise<OpenedPortal>

/** What other addresses show of the portal. */
export type OpenedPortal = {
  /** Whether there is a release that pages can be drawn from. */
  readonly isReady: () => Promise<boolean>
  /** Answers with a page, of the request's address where none is given; `chosen` is the language that the request's names. */
  readonly serve: (
    request: FastifyRequest,
    reply: FastifyReply,
    chosen: Language | undefined,
    address?: string,
  ) => Promise<FastifyReply>
  /** The address of the page about what an address of the demo names; undefined when there is none. */
  readonly addressOfDemo: (kind: string, name: string) => Promise<string | undefined>
}

/** What a server without routes needs. */
export type ServerDeps = {
  readonly log: Log
  readonly config: Pick<ApiConfig, 'trustProxy' | 'tls'> & {
    readonly limits: Pick<ApiLimits, 'connections' | 'connectionsPerAddress'>
  }
}

export type ApiConfig = Pick<
  Config,
  'trustProxy' | 'allowPlainHttp' | 'registration' | 'websubHub' | 'metricsOnApi'
> & {
  /** What is published where no record states it. */
  readonly assumed: Assumptions
  /** Where people give to a project, with `{id}` for its number; undefined: the page of its record. */
  readonly projectLinkTemplate?: string | undefined
  /** Where people reach the publisher. */
  readonly contact?: Contact | undefined
  /** Public address without trailing slash; a function, since the port may be known only after listening. */
  readonly baseUrl: () => string
  /** Name of the publisher, shown to people. */
  readonly publisherName: string
  /** What pages look and read like. */
  readonly brand: Brand
  /** Certificate chain and private key (PEM) to serve HTTPS with; undefined: plain HTTP. */
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | undefined
  readonly limits: ApiLimits
  /** The location of the nginx before the API that has this folder of published files; undefined: none has. */
  readonly proxyFiles: { readonly location: string; readonly folder: string } | undefined
  /** Where the texts of receipts come from. */
  readonly templates: TemplateChoice
  /** Whether mail is sent: e-mails of new accounts are verified, and forgotten passwords replaced by mail. */
  readonly sendsMail: boolean
  /** Lifetime of the access tokens of accounts that people make themselves. */
  readonly tokenTimeoutSeconds: number
  /** After how long a pause a token ends; undefined: only with its lifetime. */
  readonly tokenIdleSeconds?: number | undefined
}
