import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import pg from 'pg'

/** The address of an embedded server for its administrator's role; `url` is that of the service's role. */
export async function administratorUrl(dataDir: string, url: string): Promise<string> {
  const record = JSON.parse(await readFile(path.join(dataDir, 'postgres-launcher/server.json'), 'utf8'))
  return Object.assign(new URL(url), { username: 'giving_admin', password: record.adminPassword }).href
}

/**
 * Makes an embedded server fit for tests: the service's role makes databases and roles, nothing waits for the disk, since the
 * data goes with the run, and passwords, which are random, cost no time to compare: they are sent as they are.
 */
export async function prepareForTests(dataDir: string, url: string, clusterDir: string): Promise<void> {
  const access = path.join(clusterDir, 'pg_hba.conf')
  await writeFile(access, (await readFile(access, 'utf8')).replaceAll('scram-sha-256', 'password'))
  await administrate(dataDir, url, [
    'alter role giving createdb createrole',
    `set scram_iterations = 1; alter role giving password '${new URL(url).password}'`,
    ...['fsync', 'synchronous_commit', 'full_page_writes'].map((name) => `alter system set ${name} = off`),
    // The map of the mutants asks which functions a test has called.
    `alter system set track_functions = '${process.env.TOUCHED_DIR === undefined ? 'none' : 'all'}'`,
    'select pg_reload_conf()',
  ])
}

/** Makes the service's role a superuser, as benches need that copy to files of the server and drop databases in use. */
export async function allowEverything(dataDir: string, url: string): Promise<void> {
  await administrate(dataDir, url, ['alter role giving superuser'])
}

async function administrate(dataDir: string, url: string, statements: readonly string[]): Promise<void> {
  const admin = new pg.Client({ connectionString: await administratorUrl(dataDir, url) })
  await admin.connect()
  try {
    for (const statement of statements) await admin.query(statement)
  } finally {
    await admin.end()
  }
}
