import { chmod, chown, mkdir, mkdtemp, rm, stat, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { migrate } from '../../../src/platform/database/migrate.js'
import { openStore } from '../../../src/platform/database/store.js'
import { openEmbeddedPostgres } from '../../../src/platform/embedded-postgres/embedded-postgres.js'
import { administratorUrl, prepareForTests } from '../store/administrator.js'

declare module 'vitest' {
  export interface ProvidedContext {
    databaseUrl: string
    /** The same server for its administrator. */
    administratorUrl: string
  }
}

/** The database that every test file's own database is cloned from. */
export const templateDatabase = 'giving_template'

type Cluster = { readonly url: string; readonly administratorUrl: string; close(): Promise<void> }

/** The cluster of the run, and how many projects use it: each loads this file by itself. */
const shared = globalThis as { givingCluster?: { opened: Promise<Cluster>; users: number } }

/** One embedded cluster for the whole run, with a migrated template; stopped and removed when its last project has ended. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  shared.givingCluster ??= { opened: openCluster(), users: 0 }
  const { givingCluster } = shared
  givingCluster.users += 1
  const cluster = await givingCluster.opened
  project.provide('databaseUrl', cluster.url)
  project.provide('administratorUrl', cluster.administratorUrl)
  return async () => {
    givingCluster.users -= 1
    if (givingCluster.users > 0) return
    delete shared.givingCluster
    await cluster.close()
  }
}

async function openCluster(): Promise<Cluster> {
  const scratch = await openScratch()
  const dataDir = await mkdtemp(path.join(tmpdir(), 'giving-test-'))
  const server = await openEmbeddedPostgres({ dataDir })
  await prepareForTests(dataDir, server.url, server.clusterDir)
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  await makeTablespace(await administratorUrl(dataDir, server.url), path.join(scratch, 'databases'), server.clusterDir)
  await client.query(`create database ${templateDatabase} tablespace tests`)
  await client.end()
  const template = new URL(server.url)
  template.pathname = `/${templateDatabase}`
  await using store = openStore({ url: template.href, max: 1, applicationName: 'giving test template' })
  await migrate(store)
  return {
    url: server.url,
    administratorUrl: await administratorUrl(dataDir, server.url),
    close: async () => {
      await server.release()
      await rm(server.clusterDir, { recursive: true, force: true })
      await rm(scratch, { recursive: true, force: true })
    },
  }
}

/** Where the databases of tests are: each is a copy of hundreds of files, and root's clusters are on the disk. */
async function makeTablespace(url: string, folder: string, clusterDir: string): Promise<void> {
  await mkdir(folder)
  const { uid, gid } = await stat(clusterDir)
  await chown(folder, uid, gid)
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`create tablespace tests owner giving location '${folder}'`)
  await client.end()
}

/**
 * The folder of the run for temporary files, removed with all that tests have left in it. In memory where that is large
 * enough: each release is written through to the disk file by file, which no test is about.
 */
async function openScratch(): Promise<string> {
  const memory = await statfs('/dev/shm').catch(() => undefined)
  const isRoomy = memory !== undefined && memory.bavail * memory.bsize > 4e9
  process.env.TMPDIR = await mkdtemp(path.join(isRoomy ? '/dev/shm' : tmpdir(), 'giving-run-'))
  // Some servers run as another user.
  await chmod(process.env.TMPDIR, 0o711)
  return process.env.TMPDIR
}
