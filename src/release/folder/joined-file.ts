import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { Body } from './body.js'
import { isErrno } from './storage-errors.js'

/** A file of a release folder whose bytes lie in other files of the folder. */
export type JoinedFile = { readonly identity: readonly JoinedPart[]; readonly gzip: readonly JoinedPart[] }

/** Bytes of its own (base64), or those of a file of the folder from `start` to before `end`. */
export type JoinedPart = string | readonly [address: string, start: number, end: number]

/**
 * What is joined in a release folder: its joined files by address, and the fingerprints of the files that are there only to be
 * parts of them.
 */
export type FolderParts = {
  readonly joined: Readonly<Record<string, JoinedFile>>
  readonly fingerprints: Readonly<Record<string, string>>
}

/** Inside a release folder; a folder without joined files has none. */
export const partsAddress = '/parts.json'

/** Reads what is joined in a release folder; nothing in one of an earlier version. */
export async function readParts(directory: string): Promise<FolderParts> {
  try {
    return JSON.parse(await readFile(path.join(directory, partsAddress), 'utf8')) as FolderParts
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return { joined: {}, fingerprints: {} }
    throw error
  }
}

/** The bytes of a joined file of a release folder. */
export function joinedBody(directory: string, parts: readonly JoinedPart[]): Body {
  return new Body(
    parts.map((part) => {
      if (typeof part === 'string') return Buffer.from(part, 'base64')
      const [address, start, end] = part
      return { path: path.join(directory, address), offset: start, length: end - start }
    }),
  )
}

/** The addresses of the files that a joined file is in. */
export function filesOfJoined({ identity }: JoinedFile): string[] {
  return [...new Set(identity.flatMap((part) => (typeof part === 'string' ? [] : [part[0]])))]
}
