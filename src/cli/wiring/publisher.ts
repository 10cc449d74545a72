import { countDemoProjects } from '../../demo/sql/demo.js'
import { demoIdentifierPrefixes, isDemoPublisher } from '../../kernel/demo-publisher.js'
import { ServiceError } from '../../kernel/errors.js'
import { type ConfiguredPublisher, publisherDifferences } from '../../kernel/publisher.js'
import type { Config } from '../../platform/config/config.js'
import { findConfirmedAssumptions } from '../../platform/database/confirmed-assumptions.js'
import { findFact } from '../../platform/database/facts.js'
import { findPublisher } from '../../platform/database/publisher.js'
import { createReleaseReader } from '../../release/read/release-reader.js'
import { countIdentifiersOf } from '../../release/sql/published-identifiers.js'
import { ownFolderRefusal } from './folder.js'
import type { Runtime } from './runtime.js'

export const publisherFields = ['reportingOrg', 'currency', 'language', 'bucket', 'factsConfirmed'] as const

/** Why nothing is published, registered or told to others until a person has decided. */
type Refusal = {
  readonly code: 'publisher-differs' | 'demo-data-present' | 'facts-unconfirmed' | 'folder-differs'
  readonly message: string
}

/** What `giving status` calls each. */
export const publisherCauses = {
  'publisher-differs': 'publisher',
  'demo-data-present': 'demo-data',
  'facts-unconfirmed': 'facts',
  'folder-differs': 'folder',
} as const

/** Who publishes, as it is configured. */
export function configuredPublisher({ reportingOrg, currency, language }: Config): ConfiguredPublisher {
  return { ref: reportingOrg.ref, type: reportingOrg.type, currency, language }
}

/** How the configuration differs from the store; undefined where they agree, or nothing is recorded yet. */
export async function publisherRefusal({ config, store }: Runtime): Promise<string | undefined> {
  const recorded = await findPublisher(store.db)
  const differences = recorded ? publisherDifferences(recorded, configuredPublisher(config)) : []
  if (differences.length === 0) return undefined
  return `publishing, registering and donations have stopped: ${differences.join('; ')}`
}

/**
 * Throws `publisher-differs`, `demo-data-present` when the store has demo projects and the publisher is a real one,
 * `facts-unconfirmed`, or `folder-differs`.
 */
export async function refuseToPublish(runtime: Runtime): Promise<void> {
  refuse(await publishingRefusals(runtime))
}

/** Why the live release may not be told to others; undefined: it may. */
export async function tellingRefusal(runtime: Runtime): Promise<string | undefined> {
  const refusals = await tellingRefusals(runtime)
  return refusals.length > 0 ? inOne(refusals) : undefined
}

/** Throws as `refuseToPublish` where the live release may not be told to others. */
export async function refuseToTell(runtime: Runtime): Promise<void> {
  refuse(await tellingRefusals(runtime))
}

/**
 * Every reason why the live release may not be told to others: the configuration or the folder is not of this store, or
 * under a real publisher the store or the release has demo data.
 */
export async function tellingRefusals(runtime: Runtime): Promise<readonly Refusal[]> {
  const refusals = await publishingRefusals(runtime)
  const ofRelease = refusals.length === 0 ? await demoReleaseRefusal(runtime) : undefined
  return ofRelease === undefined ? refusals : [{ code: 'demo-data-present', message: ofRelease }]
}

async function publishingRefusals(runtime: Runtime): Promise<readonly Refusal[]> {
  const found = [
    ['publisher-differs', await publisherRefusal(runtime)],
    ['demo-data-present', await demoDataRefusal(runtime)],
    ['facts-unconfirmed', await unconfirmedRefusal(runtime)],
    ['folder-differs', await ownFolderRefusal(runtime)],
  ] as const
  return found.flatMap(([code, message]) => (message === undefined ? [] : [{ code, message }]))
}

function refuse(refusals: readonly Refusal[]): void {
  const [first] = refusals
  if (first) throw new ServiceError(first.code, inOne(refusals))
}

function inOne(refusals: readonly Refusal[]): string {
  return refusals.map(({ message }) => message).join('; ')
}

/** Before the first release that is not a trial's, a person reads what activities would say although nobody states it. */
async function unconfirmedRefusal({ config, store }: Runtime): Promise<string | undefined> {
  const { ref } = config.reportingOrg
  if (ref === undefined || isDemoPublisher(ref) || config.factsConfirmed) return undefined
  if ((await findPublisher(store.db)) || (await findConfirmedAssumptions(store.db))?.by !== undefined) return undefined
  return (
    `nothing is published as ${ref} before a person has confirmed once what activities say although nobody states it: ` +
    'read giving facts, then giving facts --confirm'
  )
}

async function demoDataRefusal({ config, store }: Runtime): Promise<string | undefined> {
  const { ref } = config.reportingOrg
  if (isDemoPublisher(ref)) return undefined
  const projects = await countDemoProjects(store.db)
  if (projects === 0) {
    const identifiers = await countIdentifiersOf(store.db, demoIdentifierPrefixes)
    if (identifiers === 0) return undefined
    return `${identifiers} activities were published by a trial, and REPORTING_ORG_REF is ${ref}: giving reset-demo`
  }
  return (
    `the store has ${projects} demo projects, which are invented, and REPORTING_ORG_REF is ${ref}: ` +
    'remove them with giving reset-demo'
  )
}

async function demoReleaseRefusal({ config, store, feedsDir }: Runtime): Promise<string | undefined> {
  const { ref } = config.reportingOrg
  const live = isDemoPublisher(ref) ? undefined : await createReleaseReader(feedsDir).live()
  if (live === undefined) return undefined
  if (isDemoPublisher(live.manifest.publisher.ref)) {
    return `the live release is of the trial publisher, and REPORTING_ORG_REF is ${ref}: giving reset-demo, then giving publish`
  }
  if ((await findFact(store.db, 'loss-accepted-from')) !== live.id) return undefined
  return 'the live release still has the demo data that was removed: giving publish'
}
