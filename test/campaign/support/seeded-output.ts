import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { seed } from '../../../src/demo/sql/seed.js'
import type { Store } from '../../../src/platform/database/store.js'
import { releaseFolder } from '../../../src/release/folder/release-folder.js'
import { testPublisher } from '../../support/release/publishing.js'
import { day, mappingConfig } from '../../support/values/builders.js'

/** SHA-256 of what a publication of seeded projects makes, by what it is. */
export type SeededOutput = {
  /** The files of activities. */
  readonly activities: string
  /** The organisation file. */
  readonly organisations: string
  /** The Atom feeds: all reports and their archives, and the pack of the projects' feeds. */
  readonly reports: string
  /** Verdict, notices, money and expiry of every rendering. */
  readonly renderings: string
  /** The API's ready texts of every project. */
  readonly records: string
}

// Rows as text, so that the database alone, not the driver, decides how they look.
const rowTexts = {
  renderings: `select concat_ws(' ', project_id, identifier, verdict, content_hash, bytes, last_updated_at, errors,
      warnings, infos, notice_counts, notices, valid_until, money) as line
    from rendering where project_id between $1 and $2 order by project_id`,
  records: `select concat_ws(' ', project_id, mapping, xml, json, summary_xml, summary_json) as line
    from wire_record where project_id between $1 and $2 order by project_id`,
} as const

/** Seeds this many projects into the empty store, publishes them and hashes what came of it. */
export async function seededOutput(store: Store, projects: number): Promise<SeededOutput> {
  const { currency, baseUrl } = mappingConfig
  await seed(store, { projects, source: 'local', firstId: 1, today: day('2026-11-21'), currency, baseUrl })
  const publisher = await testPublisher(store)
  const run = await publisher.publish()
  if (run.state !== 'published') throw new Error(`expected a published run, got ${run.state}: ${run.error?.message}`)
  const { id } = await publisher.live()
  const directory = path.join(releaseFolder(publisher.feedsDir).releases, id)
  return {
    activities: await hashFiles(directory, /^iati\/activities(-\d+)?\.xml$/),
    organisations: await hashFiles(directory, /^iati\/organisations\.xml$/),
    reports: await hashFiles(directory, /^feeds\/(?!releases\.json$).*\.(atom|pack|idx|json)$/),
    renderings: await hashRows(store, 'renderings', projects),
    records: await hashRows(store, 'records', projects),
  }
}

/** The names and bytes of the files whose name matches, in the order of their names. */
async function hashFiles(directory: string, wanted: RegExp): Promise<string> {
  const names = (await readdir(directory, { recursive: true })).filter((name) => wanted.test(name)).sort()
  if (names.length === 0) throw new Error(`the release has no file ${wanted}`)
  const hash = createHash('sha256')
  for (const name of names) {
    const bytes = await readFile(path.join(directory, name))
    hash.update(`${name} ${bytes.length}\n`).update(bytes)
  }
  return hash.digest('hex')
}

async function hashRows(store: Store, table: keyof typeof rowTexts, projects: number): Promise<string> {
  const hash = createHash('sha256')
  const atOnce = 500
  for (let first = 1; first <= projects; first += atOnce) {
    const { rows } = await store.db.query<{ line: string }>(rowTexts[table], [first, first + atOnce - 1])
    for (const { line } of rows) hash.update(line).update('\n')
  }
  return hash.digest('hex')
}
