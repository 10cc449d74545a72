import type { Clock } from '../../kernel/dates.js'
import { ServiceError, toServiceError } from '../../kernel/errors.js'
import type { Db } from '../../platform/database/connection.js'
import { isPublicHost } from '../../platform/outgoing/public-addresses.js'
import { compareDatasets, type DatasetState, type RegistrySettings, wantedDatasets } from './datasets.js'
import { type Publisher, type RegistryClient, RegistryRefusal } from './registry-client.js'
import { findRegistryRecord, mustAsk, nameOfWanted, saveRegistryRecord } from './registry-record.js'

/** What work at the registry needs. */
export type RegistryDeps = {
  readonly client: RegistryClient
  readonly settings: RegistrySettings
  /** Paths of the live release. */
  readonly paths: readonly string[]
}

/** The publisher and its datasets, as the registry has them. */
export type RegistryView = {
  readonly publisher: Publisher
  readonly datasets: readonly DatasetState[]
  /** Datasets of the publisher that are not files of this service. */
  readonly others: number
}

/** Finds the publisher and compares its datasets. Throws `registry-refused` when the account has no such publisher. */
export async function lookAtRegistry(deps: RegistryDeps, signal: AbortSignal): Promise<RegistryView> {
  const { client, settings, paths } = deps
  const publisher = await findPublisher(client, settings, signal)
  const prefix = settings.prefix ?? publisher.metadata.short_name
  if (!prefix) {
    throw new ServiceError('registry-refused', 'the publisher has no short name there: set REGISTRY_DATASET_PREFIX')
  }
  const registered = await explaining(client.listDatasets(publisher.id, signal), publisher, 'read its datasets')
  const datasets = compareDatasets(wantedDatasets(settings, paths), registered, publisher, prefix)
  return { publisher, datasets, others: registered.length - datasets.filter(({ id }) => id !== undefined).length }
}

async function findPublisher(
  client: RegistryClient,
  { publisherRef }: RegistrySettings,
  signal: AbortSignal,
): Promise<Publisher> {
  const publishers = await client.listPublishers(signal)
  const found = publishers.filter(({ metadata }) => metadata.organisation_identifier === publisherRef)
  if (found[0] && found.length === 1) return found[0]
  const seen = publishers.map(({ metadata }) => metadata.organisation_identifier ?? metadata.human_readable_name)
  const got = seen.length === 0 ? 'no organisation' : seen.join(', ')
  throw new ServiceError(
    'registry-refused',
    `expected one reporting organisation ${publisherRef} (REPORTING_ORG_REF) that this account may change, got ${got}: ` +
      'make it at the registry, or ask its administrator to add this account (docs/how-to/register.md)',
  )
}

/** What was done with a dataset. */
type DatasetOutcome = DatasetState & {
  readonly done: 'created' | 'corrected' | 'deleted' | 'none'
  /** Why it could not be registered. */
  readonly conflict?: string
}

export type RegistryResult = Omit<RegistryView, 'datasets'> & { readonly datasets: readonly DatasetOutcome[] }

/**
 * Creates the datasets that are missing and, with `corrects`, corrects those that differ. A short name that another
 * publisher has stops that dataset only. May be repeated after an interruption at any call: it begins with what is there.
 * Throws `configuration-invalid` for an address that is not public https.
 */
export async function registerDatasets(
  deps: RegistryDeps,
  { corrects }: { readonly corrects: boolean },
  signal: AbortSignal,
): Promise<RegistryResult> {
  const { client, settings } = deps
  refuseHidden(settings.baseUrl)
  const view = await lookAtRegistry(deps, signal)
  const { publisher } = view
  const datasets: DatasetOutcome[] = []
  for (const dataset of view.datasets) {
    const { state, id, fields, differences } = dataset
    if (state === 'missing') {
      const work = `create a ${fields.visibility} dataset` as const
      datasets.push(await explaining(create(deps, publisher, dataset, signal), publisher, work))
    } else if (state === 'different' && corrects && id !== undefined) {
      const wanted = Object.fromEntries(differences.map((difference) => [difference.field, difference.wanted]))
      const changed = client.updateDataset(id, { ...fields, ...wanted }, signal)
      const work = 'visibility' in wanted ? 'change the visibility of a dataset' : 'change a dataset'
      await explaining(changed, publisher, work)
      datasets.push({ ...dataset, state: 'registered', fields: { ...fields, ...wanted }, done: 'corrected' })
    } else datasets.push({ ...dataset, done: 'none' })
  }
  return { ...view, datasets }
}

/** Throws `configuration-invalid` where harvesters could not read what is at this address. */
function refuseHidden(baseUrl: string): void {
  const { protocol, hostname } = new URL(baseUrl)
  if (protocol === 'https:' && isPublicHost(hostname)) return
  const message = `BASE_URL: expected a public https address, which the registry's readers can reach, got ${baseUrl}`
  throw new ServiceError('configuration-invalid', message)
}

async function create(
  { client }: RegistryDeps,
  publisher: Publisher,
  dataset: DatasetState,
  signal: AbortSignal,
): Promise<DatasetOutcome> {
  try {
    await client.createDataset(publisher.id, dataset.fields, signal)
  } catch (error) {
    if (!(error instanceof RegistryRefusal && error.httpStatus === 409)) throw error
    const { short_name: name, url } = dataset.fields
    const ours = await client.listDatasets(publisher.id, signal)
    // Otherwise an earlier try of this call, or another process, has created it.
    if (!ours.some(({ metadata }) => metadata.short_name === name && metadata.url === url)) {
      const conflict = `the short name ${name} is taken by another dataset: set REGISTRY_DATASET_PREFIX`
      return { ...dataset, done: 'none', conflict }
    }
  }
  return { ...dataset, state: 'registered', done: 'created' }
}

/** Deletes the datasets of this service's files; others of the publisher stay. */
export async function unregisterDatasets(deps: RegistryDeps, signal: AbortSignal): Promise<RegistryResult> {
  const view = await lookAtRegistry(deps, signal)
  const datasets: DatasetOutcome[] = []
  for (const dataset of view.datasets) {
    if (dataset.id === undefined) {
      datasets.push({ ...dataset, done: 'none' })
      continue
    }
    await explaining(deps.client.deleteDataset(dataset.id, signal), view.publisher, 'delete a dataset')
    datasets.push({ ...dataset, state: 'missing', differences: [], done: 'deleted' })
  }
  return { ...view, datasets }
}

/** What an account may lack the right to. */
type Work =
  | 'read its datasets'
  | `create a ${string} dataset`
  | 'change a dataset'
  | 'change the visibility of a dataset'
  | 'delete a dataset'

/** Adds to a missing right what the account is and what to do. */
async function explaining<Done>(call: Promise<Done>, { user_role: role }: Publisher, work: Work): Promise<Done> {
  try {
    return await call
  } catch (error) {
    if (!(error instanceof RegistryRefusal && error.httpStatus === 403)) throw error
    const account = role ? `this account is ${role} of the organisation` : 'the role of this account is unknown'
    const message = `${error.message} (${account}; the work was to ${work}): ${adviceOn(work, role)}`
    throw new ServiceError('registry-refused', message, { cause: error })
  }
}

function adviceOn(work: Work, role: string | null | undefined): string {
  const editor = 'ask an administrator of the organisation at the registry for the role editor'
  if (role?.endsWith('_pending')) {
    return 'an administrator of the organisation at the registry has to accept this account first'
  }
  if (work === 'create a public dataset') {
    return `${editor}, or, since a contributor may not make datasets public, set REGISTRY_VISIBILITY=private`
  }
  if (work === 'change the visibility of a dataset') {
    return `${editor}, or to change it there: a contributor may change the visibility of no dataset`
  }
  if (work === 'delete a dataset') {
    return `${editor}, or to delete it there: a contributor may delete no dataset, and a client needs the scope ryd:dataset:delete`
  }
  return editor
}

/** Work at the registry whose outcome is remembered. */
export type RecordingDeps = RegistryDeps & { readonly db: Db; readonly clock: Clock }

/**
 * Does work at the registry and remembers its outcome, also when it fails. `isUnregistered` says whether an operator wants no
 * datasets from now on; without it, what was remembered stays.
 */
export async function remembering<Seen extends RegistryView | RegistryResult>(
  deps: RecordingDeps,
  work: () => Promise<Seen>,
  { isUnregistered }: { readonly isUnregistered?: boolean } = {},
): Promise<Seen> {
  const { db, clock, settings, paths } = deps
  const before = await findRegistryRecord(db)
  const base = {
    askedAt: clock().toISOString(),
    wanted: nameOfWanted(settings, paths),
    isUnregistered: isUnregistered ?? before?.isUnregistered ?? false,
  }
  try {
    const seen = await work()
    const conflicts = seen.datasets.flatMap((dataset) => ('conflict' in dataset ? [dataset.conflict] : []))
    await saveRegistryRecord(db, {
      ...base,
      datasets: seen.datasets.map(({ state, code, differences }) => ({ state, code, differences })),
      ...(conflicts.length > 0 && { failure: { code: 'registry-conflict', message: conflicts.join('; ') } }),
    })
    return seen
  } catch (error) {
    const { code, message } = toServiceError(error)
    const datasets = before?.datasets ?? []
    if (code !== 'aborted') await saveRegistryRecord(db, { ...base, datasets, failure: { code, message } })
    throw error
  }
}

/** Registers the segments that are new. Asks the registry only when something may have to be registered. */
export async function registerNew(deps: RecordingDeps, signal: AbortSignal): Promise<string> {
  const { db, clock, settings, paths } = deps
  const wanted = nameOfWanted(settings, paths)
  if (!mustAsk(await findRegistryRecord(db), wanted, clock())) return 'nothing new'
  const { datasets } = await remembering(deps, () => registerDatasets(deps, { corrects: false }, signal))
  const created = datasets.filter(({ done }) => done === 'created').map(({ fields }) => fields.short_name)
  return created.length > 0 ? `created ${created.join(', ')}` : 'nothing new'
}
