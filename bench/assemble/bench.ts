import { createWriteStream } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { constants, createGzip } from 'node:zlib'
import { to as copyTo } from 'pg-copy-streams'
import type { Store } from '../../src/platform/database/store.js'
import { idsOfBlock } from '../../src/release/bytes/blocks.js'
import { Draft } from '../../src/release/folder/draft.js'
import { prepareFolder, releaseFolder } from '../../src/release/folder/release-folder.js'
import { planRelease } from '../../src/release/plan/plan-release.js'
import type { PlannedFile } from '../../src/release/plan/planned-file.js'
import { activityBlocks, assignSegments } from '../../src/release/sql/renderings.js'
import { textsOfBlocks } from '../../src/release/write/write-segments.js'
import { atLeast, type Bench, type BenchResult, type BenchSetting } from '../suite/bench.js'
import { type Contender, contest, rate, secondsOf, speedRatio, spread } from '../suite/contest.js'
import { firstRunAt, mappingConfig } from '../suite/settings.js'

/** Stored texts to synced, hashed activity files, beside COPY of the same rows to a plain file. */
export const bench: Bench = {
  name: 'assemble',
  about: 'stored texts to synced, hashed files (and their gzip twins), beside COPY of the same rows to a plain file',
  byDefault: true,
  run,
}

const copyTexts = 'copy (select text from rendering where text is not null order by segment, project_id) to'
const { signal } = new AbortController()

async function run(setting: BenchSetting): Promise<BenchResult> {
  const { quick, workshop, progress } = setting
  const projects = setting.projects ?? (quick ? 2_000 : 6_000)
  await using database = await workshop.seeded({ projects, size: 'small', rendered: true })
  const { store } = database
  await store.transaction((db) => assignSegments(db))
  const feedsDir = await workshop.folder('assemble')
  const plain = path.join(feedsDir, 'plain')
  const inCluster = await fileInCluster(store)
  const ours = (name: string, twin: boolean): Contender => ({
    name,
    run: () => assemble(store, feedsDir, twin),
  })
  const measured = await contest(
    [
      ours('ours: files, SHA-256, synced', false),
      ours('ours: with gzip twins', true),
      { name: 'COPY to stdout, into a file', run: () => copyToFile(store, plain, false) },
      { name: 'COPY to stdout, gzip -1, into a file', run: () => copyToFile(store, plain, true) },
      {
        name: 'COPY to a file of the server',
        run: () => secondsOf(() => store.db.query(`${copyTexts} '${inCluster}'`)),
      },
    ],
    { rounds: quick ? 5 : 11, warmUp: 2, progress },
  )
  const [single, twins, copy] = measured
  const { rows } = await store.db.query<{ bytes: string }>('select sum(bytes)::text as bytes from rendering')
  await rm(inCluster, { force: true })
  const megabytes = Number(rows[0]?.bytes ?? 0) / 1e6
  return {
    tables: [
      {
        title: `${projects} activities, ${megabytes.toFixed(0)} MB; median (spread)`,
        columns: ['', 'seconds', 'MB/s', 'of COPY to stdout'],
        rows: measured.map((one) => [
          one.name,
          spread(one.seconds, 3),
          rate(megabytes, one.seconds),
          speedRatio(one, copy).toFixed(2),
        ]),
      },
    ],
    bars: [
      atLeast(0.8, 'assembling, of COPY to a plain file', speedRatio(single, copy)),
      atLeast(0.6, 'assembling with gzip twins, of COPY to a plain file', speedRatio(twins, copy)),
    ],
    notes: [
      'Both bars are relative to COPY to stdout into a plain file, uncompressed and not synced: ' +
        "the worker's files, too, are not on the machine of the server. COPY to a file of the server crosses no socket.",
    ],
  }
}

/** Writes the activity files of a release as publishing does; returns the seconds. */
async function assemble(store: Store, feedsDir: string, twin: boolean): Promise<number> {
  const folder = releaseFolder(feedsDir)
  await prepareFolder(folder)
  const run = { id: 1, startedAt: firstRunAt, force: false, trigger: 'schedule' } as const
  await using draft = await Draft.begin(folder, 'bench')
  return await store.snapshot(async (db, client) => {
    const plan = await planRelease({ mappingConfig, addFiles: [] }, run, { db, client }, undefined)
    if (plan.verdict !== 'build') throw new Error(`the plan is ${plan.verdict}`)
    return await secondsOf(async () => {
      for (const { path, content } of plan.files.filter(isActivityFile)) {
        if (content.kind !== 'segment') continue
        const { envelope, segment } = content
        const blocks = await activityBlocks(db, [segment], idsOfBlock(1, 1))
        await draft.writeTogether([{ path, envelope, twin }], textsOfBlocks(client, idsOfBlock(1, 1), blocks), signal)
      }
      await draft.synced()
    })
  })
}

/** Whether it is a segment; the file with all activities is copied from the segments, not from the store. */
function isActivityFile({ path }: PlannedFile): boolean {
  return /^\/iati\/activities(-\d+)?\.xml$/.test(path)
}

async function copyToFile(store: Store, file: string, gzip: boolean): Promise<number> {
  const seconds = await store.connection(
    async (_db, client) =>
      await secondsOf(async () => {
        const rows = client.query(copyTo(`${copyTexts} stdout`))
        if (gzip) await pipeline(rows, createGzip({ level: constants.Z_BEST_SPEED }), createWriteStream(file))
        else await pipeline(rows, createWriteStream(file))
      }),
  )
  if ((await stat(file)).size === 0) throw new Error('COPY wrote nothing')
  await rm(file)
  return seconds
}

async function fileInCluster({ db }: Store): Promise<string> {
  const { rows } = await db.query<{ dataDirectory: string }>('show data_directory')
  return path.join(rows[0]?.dataDirectory ?? '', 'bench.copy')
}
