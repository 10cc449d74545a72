import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { makeBrand } from '../../http/pages/brand.js'
import type { Brand } from '../../http/pages/page.js'
import { ServiceError } from '../../kernel/errors.js'
import { messageOf } from '../../kernel/system-errors.js'
import type { Config } from '../../platform/config/config.js'
import { sizeOfRegularFile } from '../../platform/files/regular-file.js'

const mostBytes = 200_000

/** Reads the operator's logo and words. Throws `configuration-invalid`. */
export async function readBrand({ logo, colours, wordsDir }: Config['brand']): Promise<Brand> {
  return makeBrand({
    colours,
    logo: logo === undefined ? undefined : { file: logo, bytes: await readOr(logo, 'PORTAL_LOGO') },
    words: wordsDir === undefined ? [] : await readWords(wordsDir),
  })
}

/** The JSON files of a folder; their names are languages. */
async function readWords(folder: string): Promise<{ file: string; language: string; words: unknown }[]> {
  const names = await readdir(folder).catch((cause: unknown) => {
    throw unreadable(`PORTAL_WORDS_DIR: ${folder}`, cause)
  })
  const files = names.filter((name) => name.endsWith('.json')).map((name) => path.join(folder, name))
  return await Promise.all(
    files.map(async (file) => {
      const text = (await readOr(file, 'PORTAL_WORDS_DIR')).toString()
      return { file, language: path.basename(file, '.json'), words: parsed(text, file) }
    }),
  )
}

function parsed(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw unreadable(file, cause)
  }
}

async function readOr(file: string, variable: string): Promise<Buffer> {
  try {
    const size = await sizeOfRegularFile(file)
    if (size > mostBytes) throw new Error(`expected at most ${mostBytes} bytes, got ${size}`)
    return await readFile(file)
  } catch (cause) {
    throw unreadable(`${variable}: ${file}`, cause)
  }
}

function unreadable(what: string, cause: unknown): ServiceError {
  return new ServiceError('configuration-invalid', `${what} cannot be used: ${messageOf(cause)}`, { cause })
}
