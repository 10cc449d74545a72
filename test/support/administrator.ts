import { readFile } from 'node:fs/promises'
import path from 'node:path'
import pg from 'pg'

/** The address of an embedded server for its administrator's role; `url` is that of the service's role. */
export async function administratorUrl(dataDir: string, url: string): Promise<string> {
  const record = JSON.parse(await readFile(path.join(dataDir, 'postgres-launcher/server.json'), 'utf8'))
  return Object.assign(new URL(url), { username: 'giving_admin', password: record.adminPassword }).href
}

/** Lets the service's role of an embedded server make databases and roles, as tests and benches need. */
export async function allowNewDatabases(dataDir: string, url: string): Promise<void> {
  const admin = new pg.Client({ connectionString: await administratorUrl(dataDir, url) })
  await admin.connect()
  try {
    await admin.query('alter role giving createdb createrole')
  } finally {
    await admin.end()
  }
}
