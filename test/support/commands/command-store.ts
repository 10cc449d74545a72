import { rm } from 'node:fs/promises'
import path from 'node:path'
import { createReleaseReader } from '../../../src/release/read/release-reader.js'
import { type TestDatabase, testDatabase } from '../store/database.js'
import { temporaryFolder } from '../values/temporary-folder.js'
import { runCommandLine } from './command-line.js'

/** A store with a folder, and commands that a person types there. */
export async function commandStore(settings: Record<string, string>) {
  const database: TestDatabase = await testDatabase()
  const folder = await temporaryFolder()
  const environment = {
    ...{ DATABASE_URL: database.url, GIVING_DATA_DIR: folder, LOG_LEVEL: 'silent', BASE_URL: 'https://giving.example' },
    ...settings,
  }
  const feedsDir = path.join(folder, 'feeds')
  const live = async () => {
    const release = await createReleaseReader(feedsDir).live()
    if (!release) throw new Error('nothing is live')
    return release
  }
  return {
    ...{ ...database, folder, feedsDir, environment, live },
    run: (args: string, changes: Record<string, string> = {}) =>
      runCommandLine(args.split(' '), { ...environment, ...changes }),
    json: async (args: string, changes: Record<string, string> = {}) => {
      const { code, stdout } = await runCommandLine([...args.split(' '), '--json'], { ...environment, ...changes })
      return { code, answer: JSON.parse(stdout) as Record<string, unknown> }
    },
    read: async (file: string) => String(await (await (await live()).find(file))?.identity.bytes()),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
export type CommandStore = Awaited<ReturnType<typeof commandStore>>
