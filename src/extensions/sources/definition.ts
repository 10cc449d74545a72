import path from 'node:path'
import { iatiKind } from '../../catalogue/import/iati-activities.js'
import { kinds } from '../../catalogue/import/kinds.js'
import { allOptional, ofPeople, readingMembers, textWhere } from '../../catalogue/import/reading.js'
import type { SourceDefinition } from '../../catalogue/sql/import-sources.js'
import { ServiceError } from '../../kernel/errors.js'
import { isLoopbackHost } from '../../kernel/loopback-host.js'
import {
  booleanType,
  objectType,
  optional,
  type ReadPolicy,
  readObject,
  toldProblem,
  wholeType,
} from '../../kernel/read-object.js'
import { shownValue } from '../../kernel/values.js'
import { cronSyntaxProblem } from '../../platform/config/cron.js'
import { canEnd, endingKinds } from './end-missing.js'
import { readS3Location, type S3Location } from './s3-place.js'
import { isShownPlace, shownPlace } from './sealed-place.js'
import { hostKeyPattern } from './sftp-place.js'

export const sourceKinds: readonly string[] = [...kinds.map(({ name }) => name), iatiKind]

const ownMembers = {
  name: textWhere('1 to 63 small letters, digits and hyphens', (name) => /^[a-z0-9][a-z0-9-]{0,62}$/.test(name)),
  kind: textWhere(sourceKinds.join(', '), (kind) => sourceKinds.includes(kind)),
  from: textWhere(
    'a folder or file with its whole path, or a whole address with https, s3 or sftp; a user may be in it, a password is in the secret file',
    (from) => readPlace(from) !== undefined,
  ),
  schedule: textWhere('a cron expression such as 30 1 * * *', (cron) => cronSyntaxProblem(cron) === undefined),
}

const furtherMembers = {
  names: textWhere('names such as *.csv with commas between', (names) => names.trim() !== ''),
  ...readingMembers,
  correct: booleanType,
  photoConsent: booleanType,
}

const secrets = {
  secretFile: textWhere('the whole path of a file', (file) => path.isAbsolute(file)),
  hostKey: textWhere('a fingerprint as ssh-keygen -l prints it, SHA256:...', (key) => hostKeyPattern.test(key)),
}

const definitionType = objectType({
  ...ownMembers,
  ...allOptional(furtherMembers),
  complete: optional(booleanType),
  guard: optional({ ...wholeType(0, 100), expected: 'a whole number of percent from 0 to 100' }),
  ...allOptional(secrets),
})

/**
 * What an operator wrote as a source: the options of the command, or an entry of a file, which `entry` names where it has
 * no name. Throws `input-unusable` with everything that is wrong.
 */
export function readDefinition(raw: unknown, entry?: string): SourceDefinition {
  const given = typeof raw === 'object' && raw !== null ? (raw as Readonly<Record<string, unknown>>) : {}
  const reading = readObject(definitionType, given, ofOperators)
  const { kind, from, complete: isComplete } = given
  const problems = [...(reading.problems ?? [])]
  if (isComplete === true && typeof kind === 'string' && sourceKinds.includes(kind) && !canEnd(kind)) {
    const expected = `a kind whose records can end: ${endingKinds.join(', ')}`
    problems.push({ field: 'complete', expected, got: kind })
  }
  const isSftp = typeof from === 'string' && readPlace(from)?.form === 'sftp'
  for (const name of isSftp ? (['secretFile', 'hostKey'] as const) : []) {
    if (given[name] === undefined)
      problems.push({ field: name, expected: `${secrets[name].expected}, for SFTP`, got: 'nothing' })
  }
  if (problems.length > 0 || !reading.value) {
    const of = typeof given.name === 'string' ? `source ${shownValue(given.name)}` : entry
    throw new ServiceError('input-unusable', [of, problems.map(toldProblem).join('; ')].filter(Boolean).join(', '))
  }
  const { name, schedule, complete = false, guard = 5, secretFile, hostKey, ...others } = reading.value
  const { kind: _kind, from: _from, ...how } = others
  return {
    ...{ name, kind: others.kind, from: others.from, schedule, complete, guard, reading: how },
    ...(secretFile !== undefined && { secretFile }),
    ...(hostKey !== undefined && { hostKey }),
  }
}

/** An address may have a password or a token, which is shown to nobody. */
const ofOperators: ReadPolicy = {
  ...ofPeople,
  got: (value, field) => {
    if (field !== 'from' || typeof value !== 'string') return ofPeople.got(value, field)
    return { got: /:\/\/[^/]*:[^/]*@/.test(value) ? 'an address with a password' : shownValue(shownPlace(value)) }
  },
}

/** Where the files of a source are. */
export type PlaceOfSource =
  | { readonly form: 'folder'; readonly path: string }
  | { readonly form: 'https'; readonly url: URL }
  | { readonly form: 's3'; readonly location: S3Location }
  | { readonly form: 'sftp'; readonly url: URL }

/** Reads where a source is; undefined when it cannot be one. */
export function readPlace(from: string): PlaceOfSource | undefined {
  if (path.isAbsolute(from)) return { form: 'folder', path: from }
  if (!URL.canParse(from)) return undefined
  // What a command has shown is not the whole address.
  if (isShownPlace(from)) return undefined
  const url = new URL(from)
  if (url.password !== '') return undefined
  if (url.protocol === 'sftp:') return url.username !== '' && url.hostname !== '' ? { form: 'sftp', url } : undefined
  if (url.protocol === 's3:') {
    const location = readS3Location(url)
    return location && { form: 's3', location }
  }
  // A plain address would show the secret to everybody on the way.
  const isHttps = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname))
  return isHttps ? { form: 'https', url } : undefined
}
