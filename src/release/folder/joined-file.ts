import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ifThere } from '../../kernel/system-errors.js'
import { Body } from './body.js'

/** A file of a release folder whose bytes lie in other files of the folder. */
export type JoinedFile = { readonly identity: readonly JoinedPart[]; readonly gzip: readonly JoinedPart[] }

/** Bytes of its own (base64), or those of a file of the folder from `start` to before `end`. */
export type JoinedPart = string | readonly [path: string, start: number, end: number]

/**
 * What is joined in a release folder: its joined files by path, and the fingerprints of the files that are there only to be
 * parts of them.
 */
export type FolderParts = {
  readonly joined: Readonly<Record<string, JoinedFile>>
  readonly fingerprints: Readonly<Record<string, string>>
}

/** Inside a release folder; a folder without joined files has none. */
export const partsPath = '/parts.json'

/** Reads what is joined in a release folder; nothing in one of an earlier version. */
export async function readParts(directory: string): Promise<FolderParts> {
  const text = await ifThere(readFile(join(directory, partsPath), 'utf8'))
  return text === undefined ? { joined: {}, fingerprints: {} } : (JSON.parse(text) as FolderParts)
}

/** The bytes of a joined file of a release folder. */
export function joinedBody(directory: string, parts: readonly JoinedPart[]): Body {
  return new Body(
    parts.map((part) => {
      if (typeof part === 'string') return Buffer.from(part, 'base64')
      const [path, start, end] = part
      return { path: join(directory, path), offset: start, length: end - start }
    }),
  )
}

/** The paths of the files that a joined file is in. */
export function filesOfJoined({ identity }: JoinedFile): string[] {
  return [...new Set(identity.flatMap((part) => (typeof part === 'string' ? [] : [part[0]])))]
}
