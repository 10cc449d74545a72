import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterFile } from '../runner/after-file.js'

/** An empty folder, which is removed after the tests of the file. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'giving-'))
  afterFile(() => rm(folder, { recursive: true, force: true }))
  return folder
}
