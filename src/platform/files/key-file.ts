import { randomBytes } from 'node:crypto'
import { link, readFile, rm, writeFile } from 'node:fs/promises'
import { type DonorKey, parseDonorKeys } from '../../kernel/donor.js'
import { ifThere } from '../../kernel/system-errors.js'

/** The keys of a text in the form of DONOR_KEYS. */
export function keysIn(text: string | undefined): readonly DonorKey[] {
  const read = text === undefined ? undefined : parseDonorKeys(text)
  return read && 'value' in read ? read.value : []
}

/** The text of a key file; undefined where there is none. One that cannot be read is an error: its keys are not replaced by new ones. */
export async function readKeyFile(file: string): Promise<string | undefined> {
  return await ifThere(readFile(file, 'utf8'))
}

/** Makes a key file with one key, or reads the one that another process makes at the same moment. */
export async function makeKeyFile(file: string, prefix: string): Promise<string | undefined> {
  const [id, secret] = [`${prefix}-${randomBytes(4).toString('hex')}`, randomBytes(32).toString('base64')]
  const draft = `${file}.${id}`
  await writeFile(draft, `${id}:${secret}\n`, { mode: 0o600, flag: 'wx' })
  try {
    // A link appears with its whole content, or fails when the file exists.
    await link(draft, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  } finally {
    await rm(draft, { force: true })
  }
  return await readKeyFile(file)
}
