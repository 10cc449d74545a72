import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { openEmbeddedPostgres } from '../../src/embedded-postgres/index.js'
import { dumpSchema } from '../../src/store/schema/dump-schema.js'
import { migrate } from '../../src/store/schema/migrate.js'
import { openStore } from '../../src/store/store.js'

// `npm run schema:dump`: migrates a database of its own, which is gone afterwards, and writes what came of it.
const target = path.resolve('src/store/schema.sql')
const dataDir = await mkdtemp(path.join(tmpdir(), 'giving-schema-'))
try {
  const server = await openEmbeddedPostgres({ dataDir })
  try {
    await using store = openStore({ url: server.url, max: 1, applicationName: 'giving schema dump' })
    const { version } = await migrate(store)
    await writeFile(target, await store.snapshot(dumpSchema))
    console.log(`${target}: schema ${version}`)
  } finally {
    await server.release()
    await rm(server.clusterDir, { recursive: true, force: true })
  }
} finally {
  await rm(dataDir, { recursive: true, force: true })
}
