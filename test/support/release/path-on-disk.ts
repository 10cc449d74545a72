import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { Body } from '../../../src/release/folder/body.js'
import { temporaryFolder } from '../values/temporary-folder.js'

/** Where a body can be read as one file: its own file, or a copy, removed after the test, where it is joined from several. */
export async function pathOnDisk(body: Body | undefined): Promise<string> {
  const [part] = body?.parts ?? []
  if (!body || part === undefined) return ''
  if (body.parts.length === 1 && !(part instanceof Uint8Array)) return part.path
  const folder = await temporaryFolder()
  const copy = path.join(folder, 'joined.xml')
  await writeFile(copy, await body.bytes())
  return copy
}
