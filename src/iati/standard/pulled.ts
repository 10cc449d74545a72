import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ServiceError } from '../../kernel/errors.js'
import {
  listType,
  numberType,
  objectType,
  orNull,
  requireObject,
  type TypeOf,
  textType,
} from '../../kernel/read-object.js'
import { ifThere } from '../../kernel/system-errors.js'
import { codeList, codeListNames, standardOrigin } from './standard.js'

/** The schemas that IATI publishes for one version; the first two include the others. */
export const schemaNames = [
  'iati-activities-schema.xsd',
  'iati-organisations-schema.xsd',
  'iati-common.xsd',
  'xml.xsd',
] as const

/** Name of the file that records what was pulled, beside `schemas/` and `codelists/`. */
export const pulledRecordName = 'pulled.json'

const text = textType()

const pulledRecord = objectType({
  version: text,
  pulledAt: text,
  from: listType(text),
  files: listType(objectType({ name: text, bytes: numberType(), sha256: text })),
})

/** What was downloaded, when and from where; `name` is the path in the directory. */
export type PulledStandard = TypeOf<typeof pulledRecord>

const publishedList = objectType({ data: listType(objectType({ code: text, status: orNull(text) })) })

/** The active codes of a code list as IATI publishes it (JSON, CLv3); throws for any other text. */
export function activeCodesOf(text: string): Set<string> {
  const { data } = requireObject(publishedList, JSON.parse(text))
  return new Set(data.filter(({ status }) => status !== 'withdrawn').map(({ code }) => code))
}

/** How the pulled files differ from the data that this program was built with. */
export type StandardDifference = {
  /** Schemas that differ from those that the structure was extracted from. */
  readonly schemas: readonly string[]
  /** Code lists with other active codes. */
  readonly codeLists: readonly { readonly name: string; readonly added: number; readonly gone: number }[]
}

/** What was pulled into the directory; undefined when nothing was. Throws `standard-missing` when it cannot be read. */
export async function readPulledStandard(directory: string): Promise<PulledStandard | undefined> {
  const path = join(directory, pulledRecordName)
  let text: string | undefined
  try {
    text = await ifThere(readFile(path, 'utf8'))
  } catch (error) {
    throw new ServiceError('standard-missing', `cannot read ${path}`, { cause: error })
  }
  try {
    return text === undefined ? undefined : requireObject(pulledRecord, JSON.parse(text))
  } catch (error) {
    throw new ServiceError('standard-missing', `expected the record of a pull in ${path}, got something else`, {
      cause: error,
    })
  }
}

/** Compares the pulled files with the built-in data; throws `standard-missing` when a file is gone or damaged. */
export async function compareStandard(directory: string, { files }: PulledStandard): Promise<StandardDifference> {
  const schemas: string[] = []
  const codeLists: { name: string; added: number; gone: number }[] = []
  for (const { name, sha256 } of files) {
    const bytes = await readFile(join(directory, name)).catch((error: unknown) => {
      throw new ServiceError('standard-missing', `cannot read ${join(directory, name)}`, { cause: error })
    })
    if (hash('sha256', bytes) !== sha256) {
      throw new ServiceError('standard-missing', `${join(directory, name)} was changed after it was pulled`)
    }
    if (name.startsWith('schemas/')) {
      const builtIn = standardOrigin.files[name]
      if (builtIn !== undefined && builtIn !== sha256) schemas.push(name)
      continue
    }
    const list = name.replace(/^codelists\/|\.json$/g, '')
    if (!codeListNames.includes(list)) continue
    const theirs = activeCodesOf(bytes.toString('utf8'))
    const ours = [...codeList(list).codes].filter(([, { active }]) => active).map(([code]) => code)
    const gone = ours.filter((code) => !theirs.has(code)).length
    const added = theirs.size - (ours.length - gone)
    if (added > 0 || gone > 0) codeLists.push({ name: list, added, gone })
  }
  return { schemas, codeLists }
}

/** The version that a schema declares, if it does. */
export function schemaVersion(text: string): string | undefined {
  return /<(?:\w+:)?schema\b[^>]*\sversion="([^"]+)"/.exec(text)?.[1]
}
