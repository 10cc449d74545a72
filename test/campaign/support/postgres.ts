import { rm } from 'node:fs/promises'
import {
  type EmbeddedPostgres,
  openEmbeddedPostgres,
} from '../../../src/platform/embedded-postgres/embedded-postgres.js'
import { findPostmaster } from '../../../src/platform/embedded-postgres/postmaster.js'
import { temporaryFolder } from '../../support/values/temporary-folder.js'

/** A PostgreSQL server of a case's own, that can be stopped, killed and started again. */
export type CampaignPostgres = {
  /** Its address; the port may be another one after a start. */
  url(): string
  port(): number
  /** `stop`: as an operator would, its sessions are ended; `kill`: kill -9. */
  down(how: 'stop' | 'kill'): Promise<void>
  /** Starts it again; after a kill it recovers what was committed. */
  up(): Promise<void>
  end(): Promise<void>
}

/** A server with an empty database. */
export async function startCampaignPostgres(): Promise<CampaignPostgres> {
  const dataDir = await temporaryFolder()
  let server: EmbeddedPostgres = await openEmbeddedPostgres({ dataDir })
  return {
    url: () => server.url,
    port: () => Number(new URL(server.url).port),
    down: async (how) => {
      if (how === 'stop') return await server.release()
      const postmaster = await findPostmaster(server.clusterDir)
      if (postmaster) process.kill(postmaster.pid, 'SIGKILL')
    },
    up: async () => {
      const former = server
      server = await openEmbeddedPostgres({ dataDir })
      await former.release()
    },
    end: async () => {
      await server.release()
      await rm(server.clusterDir, { recursive: true, force: true })
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
