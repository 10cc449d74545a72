/** What may need a person: its name for people, what to do, and the pages of the console where that is done. */
export type ConditionKind = {
  readonly title: string
  readonly next: string
  /** Addresses with what they are called; `:about` is what the condition is about. */
  readonly pages: readonly Page[]
  /** Nothing is broken: it waits for a decision. */
  readonly waits: boolean
}

type Page = readonly [address: string, text: string]

const broken = (title: string, next: string, ...pages: Page[]) => ({ title, next, pages, waits: false })
const waits = (title: string, next: string, ...pages: Page[]) => ({ title, next, pages, waits: true })

const publish = ['/publish', 'Publish now'] as const
const queues = ['/queues', 'See the queue'] as const
const releases = ['/releases', 'See the releases'] as const
const held = ['/held', 'See why'] as const
const donations = ['/donations', 'See the donations'] as const
const approve = ['/releases/:about/approve', 'See what would change, and approve'] as const
const ofSource = ['/sources', 'See it, then decide or read it again'] as const
const restart = 'start Redis, or correct REDIS_URL; workers connect again by themselves'
const follow = 'giving payments follow, or giving payments webhooks --state failed'

/** The one list that `giving status`, `giving doctor`, alarms and the console tell from; a cause that is missing here does not compile. */
export const conditions = {
  migrations: broken('The database is of an older version', 'giving migrate'),
  queue: broken('The queue cannot be reached', restart, queues),
  'no-worker': broken('No worker takes the run', 'giving start, or giving worker', queues),
  'clock-wrong': broken('A clock is wrong', 'set the clock of that machine (NTP)'),
  'database-behind': broken('The database is not the newest one', 'giving database show'),
  'database-restored': broken('The database is older than what is published', 'giving database show'),
  'disk-full': broken('The disk is nearly full', 'a smaller PUBLISH_KEEP_RELEASES, or a larger disk', releases),
  certificate: broken('The certificate ends soon', 'renew TLS_CERT_FILE and restart'),
  publisher: broken('The publisher differs', 'docs/how-to/change-publisher.md', ['/audit', 'See who changed what']),
  'demo-data': waits('There is demo data under a real publisher', 'giving reset-demo, then giving publish'),
  facts: waits('Facts wait', 'giving facts, then giving facts --confirm', ['/facts', 'Read and confirm them']),
  folder: broken('The folder is not the one of the store', 'giving releases folder', releases),
  'folder-refused': broken('Another process has another folder', 'giving releases folder', releases),
  'nothing-published': waits('Nothing is published yet', 'giving publish', publish),
  'run-failed': broken('A publication failed', 'giving publish --wait', ['/runs/:about', 'See what it did'], publish),
  'release-held': waits('A release is held', 'giving releases approve, or correct the data', approve, releases),
  'publication-overdue': broken('A publication is late', 'giving health worker, then giving publish', publish, queues),
  'rolled-back': waits('An earlier release is live', 'correct the data, then giving publish', publish, releases),
  'activities-held': waits('Projects are held', 'giving held', held),
  'organisations-held': waits('The organisation file is not whole', 'giving held', held),
  'bucket-behind': broken('The bucket is behind', 'docs/how-to/bucket.md'),
  'schedule-paused': waits('A schedule waits', 'giving schedules resume', ['/schedules/:about/resume', 'Resume it']),
  registry: broken('The registry has something else', 'giving registry register'),
  backup: broken('The backup needs you', 'docs/how-to/backup.md'),
  sync: broken('The last sync was held or failed', 'giving sync status', ['/#syncs', 'See the syncs']),
  sources: broken('A source needs you', 'docs/how-to/sources.md', ofSource),
  donors: broken('Donors cannot be read, or are in clear', 'correct DONOR_KEYS, or giving donors rekey'),
  payments: broken('A payment needs you', follow, ['/donations/:about', 'Open the donation'], donations),
  books: broken('The books differ from the processor', 'docs/how-to/books-differ.md', donations),
} as const satisfies Readonly<Record<string, ConditionKind>>

export type ConditionName = keyof typeof conditions

/** Something that needs a person; `cause` stays the same while the message may change. */
export type Cause = {
  readonly cause: ConditionName
  readonly message: string
  /** The number or name of the run, release, source, schedule or donation. */
  readonly about?: string
}
