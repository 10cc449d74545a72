import { hash } from 'node:crypto'
import { type ErrorCode, errorKinds } from '../../kernel/errors.js'
import type { Db } from '../../platform/database/connection.js'
import { findFact, recordFact } from '../../platform/database/facts.js'
import { type DatasetState, type RegistrySettings, wantedDatasets } from './datasets.js'

/** What is remembered of the registry, so that it need not be asked again. */
export type RegistryRecord = {
  readonly askedAt: string
  /** Names what should have been registered at that time. */
  readonly wanted: string
  readonly datasets: readonly Pick<DatasetState, 'state' | 'code' | 'differences'>[]
  /** Why the last work at the registry stopped, or could not do all. */
  readonly failure?: { readonly code: ErrorCode; readonly message: string }
  /** An operator has removed the datasets; only an operator registers them again. */
  readonly isUnregistered: boolean
}

export async function findRegistryRecord(db: Db): Promise<RegistryRecord | undefined> {
  const fact = await findFact(db, 'registry')
  return fact === undefined ? undefined : (JSON.parse(fact) as RegistryRecord)
}

export async function saveRegistryRecord(db: Db, record: RegistryRecord): Promise<void> {
  await recordFact(db, 'registry', JSON.stringify(record), new Date(record.askedAt))
}

/** Fingerprint of what should be registered, and where; when it changes, the registry must be asked. */
export function nameOfWanted(settings: RegistrySettings, paths: readonly string[]): string {
  const { url, publisherRef, prefix } = settings
  return hash('sha256', JSON.stringify([url, publisherRef, prefix, wantedDatasets(settings, paths)]))
}

const hourMs = 3_600_000

/** Whether the registry has to be asked, by what is remembered of it. */
export function mustAsk(record: RegistryRecord | undefined, wanted: string, now: Date): boolean {
  if (record?.isUnregistered) return false
  if (record?.wanted !== wanted) return true
  const { failure, datasets } = record
  if (!failure) return datasets.some(({ state }) => state === 'missing')
  // After an outage the registry is asked again in an hour, after a refusal that a person must fix in a day.
  const pauseMs = errorKinds[failure.code].remedy === 'retry' ? hourMs : 24 * hourMs
  return now.getTime() - Date.parse(record.askedAt) >= pauseMs
}

/** What `giving status` says of the registry. */
export type RegistryStatus = {
  readonly askedAt: string | undefined
  readonly registered: readonly string[]
  readonly missing: readonly string[]
  readonly different: readonly string[]
  readonly failure: string | undefined
  readonly isUnregistered: boolean
}

/** What is known of the registry without asking it, by the codes of the files that should be registered now. */
export function registryStatus(record: RegistryRecord | undefined, codes: readonly string[]): RegistryStatus {
  const known = new Map(record?.datasets.map(({ code, state }) => [code, state]))
  const inState = (state: DatasetState['state']) => codes.filter((code) => (known.get(code) ?? 'missing') === state)
  return {
    askedAt: record?.askedAt,
    registered: inState('registered'),
    missing: inState('missing'),
    different: inState('different'),
    failure: record?.failure?.message,
    isUnregistered: record?.isUnregistered ?? false,
  }
}

/** The datasets of a record by state, for metrics. */
export function countDatasets(record: RegistryRecord | undefined): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { state } of record?.datasets ?? []) counts[state] = (counts[state] ?? 0) + 1
  return counts
}

/** What an operator should do about it; empty when everything is registered as it should be. */
export function registryProblems(status: RegistryStatus): string[] {
  const { missing, different, failure, isUnregistered } = status
  if (isUnregistered) return ['the datasets were unregistered: giving registry register registers them again']
  const list = (codes: readonly string[]) => codes.join(', ')
  return [
    ...(failure === undefined ? [] : [`the IATI registry: ${failure}`]),
    ...(missing.length > 0 ? [`not in the IATI registry: ${list(missing)} (giving registry register)`] : []),
    ...(different.length > 0 ? [`different in the IATI registry: ${list(different)} (giving registry sync)`] : []),
  ]
}
