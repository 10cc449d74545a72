import type { IsoInstant } from '../../kernel/dates.js'
import type { NoticeSummary, Severity } from '../../kernel/notice.js'

/** One published file of a release. */
export type ManifestFile = {
  /** Its permanent path, such as `/iati/activities.xml`; always serves the live release. */
  readonly path: string
  /** Its immutable path, `/feeds/releases/{release}{path}`. */
  readonly immutablePath: string
  readonly mediaType: string
  /** What it holds: activities, organisations, feed entries or rows. */
  readonly records: number
  /** Size of the identity encoding, in bytes. */
  readonly bytes: number
  /** Size of the gzip twin, in bytes; 0 where the file has none, since it is compressed itself. */
  readonly gzipBytes: number
  /** SHA-256 of the identity bytes, hex. */
  readonly sha256: string
  /** The same without `generated-datetime`, which says nothing of the content; IATI files only. */
  readonly contentSha256?: string
  /** When these bytes were first published; a file carried over keeps it (iati.md 16.2). */
  readonly lastModified: IsoInstant
  /** Names the records without their envelope; a file with the same fingerprint is carried over. */
  readonly fingerprint: string
  readonly notices: NoticeSummary
}

/** How many, and the first few. */
export type Sample<Item = string> = { readonly count: number; readonly sample: readonly Item[] }

/** An activity whose newest rendering is invalid; its last valid text is what the file holds. */
type HeldActivity = {
  readonly identifier: string
  readonly projectId: number
  /** Whether an earlier valid text stays in the feed; a manifest of an earlier version names others too. */
  readonly stillPublished: boolean
  /** The first few error notices. */
  readonly notices: readonly {
    readonly code: string
    readonly severity: Severity
    readonly path: string
    readonly detail: string
  }[]
}

/** The document `/feeds/manifest.json` (iati.md 19.1). */
export type Manifest = {
  readonly release: string
  readonly run: number
  /** The time of the run that made the release. */
  readonly generated: IsoInstant
  readonly previous?: string
  /** SHA-256 of the manifest of `previous`, hex. */
  readonly previousSha256?: string
  /** Releases before this one, newest first; readable while they are kept. */
  readonly previousReleases?: readonly { readonly release: string; readonly manifest: string }[]
  readonly publisher: { readonly ref: string; readonly name: string }
  /**
   * The publisher's own record in the organisation file: hash of its content, and when that last changed. `inputs` is a
   * hash of everything that the file is made from; while it is the same, the file need not be generated to be compared.
   */
  readonly publisherRecord?: { readonly hash: string; readonly lastUpdated: IsoInstant; readonly inputs?: string }
  readonly files: readonly ManifestFile[]
  /** Feeds at `/feeds/projects/{id}/reports.atom`; `index` is the file of this release that lists them with hashes. */
  readonly projectFeeds: { readonly count: number; readonly index: string }
  /** All held activities counted, those that were published before named. */
  readonly held: Sample<HeldActivity>
  /** What the guards compare from release to release; amounts by currency. */
  readonly totals: {
    readonly activities: number
    /** What came in from donors of the platform. */
    readonly money: Readonly<Record<string, string>>
    /** All money in the activities by kind: `in`, `partners`, `expenditure`, `budget`; absent from releases of before. */
    readonly flows?: Readonly<Record<string, Readonly<Record<string, string>>>>
  }
}

/** A release as the database records it. */
export function releaseRow(manifest: Manifest) {
  const { release, run, generated } = manifest
  return { id: release, runId: run, generatedAt: new Date(generated), manifest }
}
