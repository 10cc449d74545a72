import { createHash } from 'node:crypto'
import { publicKeyPath } from '../../iati/addresses.js'
import type { MappingConfig } from '../../iati/mapping/mapping-config.js'
import { noNotices } from '../../kernel/notice.js'
import type { Texts } from '../bytes/texts.js'
import type { Coverage } from '../sql/renderings.js'
import type { PlannedFile } from './planned-file.js'

/** A file made in parts: once for its hash, and again when it changed, so that it is never in memory as a whole. */
export type AddedFile = Pick<PlannedFile, 'path' | 'mediaType'> & { readonly parts: () => Iterable<string> }

/** Makes files from the other files of a release: the same text from the same arguments. */
export type AddFiles = (
  ...release: [config: MappingConfig, files: readonly PlannedFile[], coverage: Coverage]
) => Promise<readonly AddedFile[]>

/** The files that are added in this order, and the public key of signed releases. */
export async function addedFiles(
  addFiles: readonly AddFiles[],
  pem: string | undefined,
  ...release: Parameters<AddFiles>
): Promise<PlannedFile[]> {
  const files = (await Promise.all(addFiles.map((add) => add(...release)))).flat()
  if (pem !== undefined) files.push({ path: publicKeyPath, mediaType: 'application/x-pem-file', parts: () => [pem] })
  return files.map(planned)
}

function planned({ path, mediaType, parts }: AddedFile): PlannedFile {
  const hash = createHash('sha256')
  for (const part of parts()) hash.update(part)
  return {
    ...{ path, mediaType, records: 1, notices: noNotices },
    fingerprint: hash.digest('base64'),
    content: { kind: 'texts', texts: () => inBatches(parts()) },
  }
}

async function* inBatches(parts: Iterable<string>): Texts {
  for (const part of parts) yield [Buffer.from(part)]
}
