// Published addresses are permanent: a consumer's bookmark works for ever.

/** The activity file of a segment: segment 1 is `/iati/activities.xml` for ever (iati.md 1.4). */
export function activitiesPath(segment: number): string {
  return segment === 1 ? '/iati/activities.xml' : `/iati/activities-${segment}.xml`
}

/** The segment of an activity file. */
export function segmentAt(path: string): number {
  return Number(/-(\d+)\.xml$/.exec(path)?.[1] ?? 1)
}

/** Every activity in one file, whatever its size: for analysts, not for registration (iati.md 1.4). */
export const bulkActivitiesPath = '/iati/bulk/activities.xml'

/** Whether a file repeats a part of another that has the whole, or is an archive: short lists leave it out. */
export function isPart(path: string): boolean {
  return /^\/iati\/activities-\d+\.xml$/.test(path) || isReportArchive(path)
}

/** Where each activity lies in its file, and what lists of activities show (iati.md 1.5). */
export const activityIndexPath = '/iati/index.json'

export const tableFormats = ['csv', 'parquet'] as const
export type TableFormat = (typeof tableFormats)[number]

/** A table as one file, whatever its size. */
export function tablePath(table: string, format: TableFormat): string {
  return `/data/${table}.${format}`
}

/** The tables with the meaning of their columns. */
export const dataPackagePath = '/data/datapackage.json'

export const catalogueFormats = ['jsonld', 'ttl', 'rdf'] as const
export type CatalogueFormat = (typeof catalogueFormats)[number]

/** The catalogue of everything that is published. */
export function cataloguePath(format: CatalogueFormat): string {
  return `/data/catalog.${format}`
}

export const llmsTextPath = '/llms.txt'

export const organisationsPath = '/iati/organisations.xml'
export const reportsFeedPath = '/feeds/reports.atom'

/** The list of all feeds, for feed readers. */
export const feedListPath = '/feeds/opml.xml'

/** An archive of the feed of all reports (RFC 5005); archive 1 holds the oldest. */
export function reportsArchivePath(archive: number): string {
  return `/feeds/reports/archive-${archive}.atom`
}

/** Whether a published path is such an archive. */
export function isReportArchive(path: string): boolean {
  return path.startsWith('/feeds/reports/archive-')
}

/** Links of demo data lead to pages below this path. */
export const demoPath = '/demo'

export const projectFeedIndexPath = '/feeds/projects/index.json'
/** The platform's themes without a key: the code list of its sectors in IATI files (iati.md 7.2). */
export const themeListPaths = { xml: '/themes.xml', json: '/themes.json' } as const

export const manifestPath = '/feeds/manifest.json'

/** A record of every release ever made, each linked to the one before. */
export const releaseChainPath = '/feeds/releases.json'

/** The publisher's signed statement that the live release is up to date. */
export const checkedPath = '/feeds/checked.json'

/** The live release and the last runs. */
export const statusPath = '/feeds/status.json'

/** The public key by which releases are verified. */
export const publicKeyPath = '/.well-known/giving-iati-key.pem'

/** The Atom feed of one project's progress reports. */
export function projectFeedPath(projectId: number): string {
  return `/feeds/projects/${projectId}/reports.atom`
}
