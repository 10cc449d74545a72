import type { ServingDeps } from '../../cli/extension.js'
import { explainForPages } from '../../cli/wiring/assumed-facts.js'
import type { CleanupStack } from '../../cli/wiring/cleanup-stack.js'
import { importOptionsOf } from '../../cli/wiring/import-options.js'
import { readCertificate } from '../../cli/wiring/listening.js'
import { openPool } from '../../cli/wiring/runtime.js'
import { isLoopbackHost } from '../../kernel/loopback-host.js'
import { isSandbox } from '../../money/gateways/gateway.js'
import { reconciliationNeeds } from '../../money/reconcile.js'
import { parseOperatorTokens } from '../../platform/config/operator-token.js'
import { createReleaseReader } from '../../release/read/release-reader.js'
import { factsForPages } from './facts-for-pages.js'
import { type UploadLimits, Uploads } from './uploads.js'

// Of four connections an action uses two, one of them for the publishing lock; the pages have the others.
const connections = 4
const pageMs = 5_000
const mostClients = { connections: 200, connectionsPerAddress: 100 }

/** Everything that the console works with. */
export type ConsoleDeps = Awaited<ReturnType<typeof openConsoleDeps>>

/** What it opens is closed with `opened`. */
export async function openConsoleDeps(
  { runtime: given, metrics, openPayments, openLooks, deliveryOf }: ServingDeps,
  limits: UploadLimits,
  opened: CleanupStack,
) {
  const { config, log, clock, signal, feedsDir } = given
  const pool = openPool(given, { max: connections })
  opened.defer(() => pool.close())
  // A page gives a statement up after some seconds; actions and imports have statements of any length.
  const store = pool.answeringWithin(pageMs)
  const pages = { ...given, store }
  const runtime = { ...given, store: pool }
  const parsed = parseOperatorTokens(config.secrets.opsTokens ?? '')
  // A certificate is for the public name, which loopback addresses do not have.
  const tls = isLoopbackHost(config.ops.host) ? undefined : config.tls
  const payments = await openPayments(runtime)
  return {
    ...{ store, runtime, payments, deliveryOf, feedsDir, clock, log, metrics, tls },
    /** Aborted when the process is asked to stop: `/readyz` is 503 from then on. */
    stopping: signal,
    releases: createReleaseReader(feedsDir),
    look: openLooks(pages, { ...payments, store }, opened),
    facts: factsForPages(pages),
    explain: explainForPages(pages),
    uploads: new Uploads(config.dataDir, clock, limits),
    importOptions: { clock, ...importOptionsOf(config) },
    /** The gateway where it moves no money. */
    testGateway: isSandbox(payments.gateway) ? payments.gateway.name : undefined,
    /** What differs from the processor by day, in words. */
    differences: () => reconciliationNeeds(payments),
    /** Who may use the console; nobody named: everybody who reaches it, which must be this machine only. */
    operators: 'value' in parsed ? parsed.value : [],
    config: {
      limits: { ...mostClients, requestsPerAddress: config.rateLimitPerAddress },
      trustProxy: config.trustProxy,
      tls: await readCertificate({ tls }),
    },
  }
}
