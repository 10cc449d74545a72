import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { migrate } from '../../../../src/platform/database/migrate.js'
import { openStore } from '../../../../src/platform/database/store.js'
import { defaultWriterRole, grantWriterRole } from '../../../../src/platform/database/writer-role.js'
import { openEmbeddedPostgres } from '../../../../src/platform/embedded-postgres/embedded-postgres.js'
import { describeStore } from './describe-store.js'
import { dumpSchema } from './dump-schema.js'

// `npm run schema:dump`: migrates a database of its own, which it removes afterwards, and writes schema.sql and docs/reference/store.md from it.
const target = path.resolve('test/support/store/schema/schema.sql')
const dataDir = await mkdtemp(path.join(tmpdir(), 'giving-schema-'))
try {
  const server = await openEmbeddedPostgres({ dataDir })
  try {
    await using store = openStore({ url: server.url, max: 1, applicationName: 'giving schema dump' })
    const { version } = await migrate(store)
    await writeFile(target, await store.snapshot(dumpSchema))
    await grantWriterRole(store.db, defaultWriterRole, new Date())
    await writeFile(path.resolve('docs/reference/store.md'), await describeStore(store.db, defaultWriterRole))
    console.log(`${target}: schema ${version}`)
  } finally {
    await server.release()
    await rm(server.clusterDir, { recursive: true, force: true })
  }
} finally {
  await rm(dataDir, { recursive: true, force: true })
}
