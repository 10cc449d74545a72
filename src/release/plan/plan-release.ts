import { activitiesPath, projectFeedIndexPath } from '../../iati/addresses.js'
import { isoDateOf, isoInstantOf } from '../../kernel/dates.js'
import type { Db } from '../../platform/database/connection.js'
import { findFact } from '../../platform/database/facts.js'
import type { Run } from '../../work/run.js'
import type { PublicationDeps } from '../publication.js'
import type { Manifest, Sample } from '../read/manifest.js'
import type { ReadableRelease } from '../read/release-reader.js'
import { hasKeptOrganisation } from '../sql/organisation-file.js'
import { vanishedIdentifiers } from '../sql/published-identifiers.js'
import {
  heldRenderings,
  heldRules,
  publishedCoverage,
  reportFeedsFingerprint,
  unbalancedRenderings,
} from '../sql/renderings.js'
import { incomingMoney, listSegments, sumOfFlows } from '../sql/segments.js'
import { rowsFormat } from '../tables/table-pieces.js'
import { addedFiles } from './added-files.js'
import { activityIndex, bulkActivities } from './all-activities.js'
import { type OrganisationFile, organisationFile, organisationFileOf } from './organisation-file.js'
import type { PlannedFile, Snapshot } from './planned-file.js'
import { feedList, reportFiles } from './report-files.js'
import { stampedEnvelope } from './stamped-envelope.js'
import { tableFiles } from './table-files.js'

// A version that cannot join files from layers writes each segment again, instead of taking over what it cannot read.
const inBlocks = 'blocks'

const xmlMediaType = 'application/xml; charset=utf-8'
// Listed in the manifest; the count is exact.
const maxHeldNamed = 100

/** A release that differs from the live one. */
export type ReleasePlan = {
  readonly verdict: 'build'
  readonly files: readonly PlannedFile[]
  readonly publisherRecord: Manifest['publisherRecord']
  readonly feeds: { readonly count: number; readonly entries: number; readonly fingerprint: string }
  readonly held: Manifest['held']
  readonly totals: Manifest['totals']
  /** Whether the same activities are published as in the live release. */
  readonly isSameSet: boolean
  /** Published identifiers that the release lacks. */
  readonly vanished: Sample
  /** Activities whose transactions do not add up to the books. */
  readonly unbalanced: Sample
  /** An operator accepted the loss of data: totals smaller than the live release's do not hold this one. */
  readonly lossAccepted: boolean
  readonly leftOut?: OrganisationFile['leftOut']
}

/** What has to be done for a snapshot of the store. */
export type PlanResult =
  | ReleasePlan
  | {
      readonly verdict: 'unchanged'
      readonly live: ReadableRelease
      readonly held: Manifest['held']
      readonly leftOut?: OrganisationFile['leftOut']
    }
  | { readonly verdict: 'empty'; readonly reason: string; readonly held: Manifest['held'] }

/**
 * Plans a release of everything rendered, without writing anything. `isSameSet` says that the content of kind `organisations`
 * is that of the live release.
 */
export async function planRelease(
  { mappingConfig: config, addFiles, signer }: Pick<PublicationDeps, 'mappingConfig' | 'addFiles' | 'signer'>,
  run: Run,
  snapshot: Snapshot,
  live: ReadableRelease | undefined,
  isSameSet = false,
): Promise<PlanResult> {
  const { db } = snapshot
  // Do not name held activities that were never published.
  const heldRows = await heldRenderings(db, maxHeldNamed, { isPublished: true })
  const held: Manifest['held'] = {
    count: heldRows.count,
    sample: heldRows.sample.map(({ identifier, projectId, stillPublished, notices }) => ({
      identifier,
      projectId,
      stillPublished,
      notices: notices
        .filter((notice) => notice.severity === 'error')
        .slice(0, 5)
        .map(({ code, severity, path, detail }) => ({ code, severity, path, detail })),
    })),
  }
  const segments = await listSegments(db, rowsFormat)
  if (segments.length === 0 && !(await hasKeptOrganisation(db))) {
    return { verdict: 'empty', reason: await emptyReason(db, held.count), held }
  }
  const generated = isoInstantOf(run.startedAt)
  const feeds = await reportFeedsFingerprint(db)
  const organisations =
    (isSameSet ? organisationFileOf(live?.manifest) : undefined) ??
    (await organisationFile(config, run, snapshot, live?.manifest))
  const envelope = stampedEnvelope('iati-activities', generated)
  const activityFiles = segments.map(
    (segment): PlannedFile => ({
      path: activitiesPath(segment.segment),
      mediaType: xmlMediaType,
      records: segment.activities,
      fingerprint: `${inBlocks} ${segment.fingerprint}`,
      notices: { errors: 0, warnings: segment.warnings, infos: segment.infos, byCode: segment.noticeCounts },
      content: {
        kind: 'segment',
        segment: segment.segment,
        envelope,
        isAlone: segments.length === 1,
      },
    }),
  )
  const reports = await reportFiles(config, db)
  const files: PlannedFile[] = [
    ...activityFiles,
    ...bulkActivities(activityFiles, envelope),
    activityIndex(activityFiles, envelope),
    organisations.file,
    ...reports,
    ...feedList(config, feeds, reports.length > 0),
    ...tableFiles(segments),
  ]
  const { issued = isoDateOf(run.startedAt), ...covered } = await publishedCoverage(db)
  const plan: ReleasePlan = {
    verdict: 'build',
    files: [...files, ...(await addedFiles(addFiles, signer?.publicKey, config, files, { issued, ...covered }))],
    publisherRecord: organisations.publisherRecord,
    ...(organisations.leftOut && { leftOut: organisations.leftOut }),
    feeds,
    held,
    totals: {
      activities: segments.reduce((sum, segment) => sum + segment.activities, 0),
      money: await incomingMoney(db, segments),
      flows: await sumOfFlows(db, segments),
    },
    isSameSet,
    vanished: isSameSet ? { count: 0, sample: [] } : await vanishedIdentifiers(db, 10),
    unbalanced: await unbalancedRenderings(db, { sinceRun: live?.manifest.run ?? 0, day: isoDateOf(run.startedAt) }, 5),
    lossAccepted: live !== undefined && (await findFact(db, 'loss-accepted-from')) === live.id,
  }
  return live && isSameContent(live.manifest, plan)
    ? { verdict: 'unchanged', live, held, leftOut: organisations.leftOut }
    : plan
}

/** Why there is nothing to publish, in one sentence. */
async function emptyReason(db: Db, count: number): Promise<string> {
  if (count === 0) return 'the store holds no project that can be published'
  const codes = (await heldRules(db)).map(({ code }) => code)
  return `none of the ${count} activities is valid: ${codes.slice(0, 5).join(', ')}`
}

/** Whether a release has what is planned: the same files with the same records, the same held activities. */
export function isSameContent(release: Manifest, plan: ReleasePlan): boolean {
  const before = new Map(release.files.map((file) => [file.path, file.fingerprint]))
  const after = [...plan.files, { path: projectFeedIndexPath, fingerprint: plan.feeds.fingerprint }]
  return (
    before.size === after.length &&
    after.every(({ path, fingerprint }) => before.get(path) === fingerprint) &&
    JSON.stringify(release.held) === JSON.stringify(plan.held)
  )
}
