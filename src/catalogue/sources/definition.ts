import path from 'node:path'
import { type FieldProblem, ServiceError } from '../../kernel/errors.js'
import { isLoopbackHost } from '../../kernel/loopback-host.js'
import { shownValue } from '../../kernel/values.js'
import { cronSyntaxProblem } from '../../platform/config/cron.js'
import { iatiKind } from '../import/iati-activities.js'
import { kinds } from '../import/kinds.js'
import { type Check, expectedMember, readingChecks, textMember } from '../import/reading.js'
import type { SourceDefinition, SourceReading } from '../sql/import-sources.js'
import { canEnd, endingKinds } from './end-missing.js'
import { readS3Location, type S3Location } from './s3-place.js'
import { isShownPlace, shownPlace } from './sealed-place.js'
import { hostKeyPattern } from './sftp-place.js'

export const sourceKinds: readonly string[] = [...kinds.map(({ name }) => name), iatiKind]

const truth: Check<boolean> = {
  expected: 'true or false',
  read: (raw) => (typeof raw === 'boolean' ? raw : undefined),
}

const checks = {
  name: textMember('1 to 63 small letters, digits and hyphens', (raw) => /^[a-z0-9][a-z0-9-]{0,62}$/.test(raw)),
  kind: textMember(sourceKinds.join(', '), (raw) => sourceKinds.includes(raw)),
  from: textMember(
    'a folder or file with its whole path, or a whole address with https, s3 or sftp; a user may be in it, a password is in the secret file',
    (raw) => readPlace(raw) !== undefined,
  ),
  schedule: textMember('a cron expression such as 30 1 * * *', (raw) => cronSyntaxProblem(raw) === undefined),
  names: textMember('names such as *.csv with commas between', (raw) => raw.trim() !== ''),
  ...readingChecks,
  correct: truth,
  photoConsent: truth,
  complete: truth,
  guard: {
    expected: 'a whole number of percent from 0 to 100',
    read: (raw) => (Number.isInteger(raw) && Number(raw) >= 0 && Number(raw) <= 100 ? Number(raw) : undefined),
  },
  secretFile: textMember('the whole path of a file', (raw) => path.isAbsolute(raw)),
  hostKey: textMember('a fingerprint as ssh-keygen -l prints it, SHA256:...', (raw) => hostKeyPattern.test(raw)),
} as const satisfies Readonly<Record<string, Check<unknown>>>

const required = ['name', 'kind', 'from', 'schedule'] as const

const readingMembers = [...Object.keys(readingChecks), 'names', 'correct', 'photoConsent']

/**
 * What an operator wrote as a source: the options of the command, or an entry of a file, which `entry` names where it has
 * no name. Throws `input-unusable` with everything that is wrong.
 */
export function readDefinition(raw: unknown, entry?: string): SourceDefinition {
  const given = typeof raw === 'object' && raw !== null ? (raw as Readonly<Record<string, unknown>>) : {}
  const problems: FieldProblem[] = []
  const read: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue
    const check: Check<unknown> | undefined = Object.hasOwn(checks, name)
      ? checks[name as keyof typeof checks]
      : undefined
    if (!check) problems.push({ field: name.slice(0, 100), expected: expectedMember(name, Object.keys(checks)) })
    else {
      read[name] = check.read(value)
      if (read[name] === undefined) problems.push({ field: name, expected: check.expected, got: shownOf(name, value) })
    }
  }
  for (const name of required) {
    if (given[name] === undefined) problems.push({ field: name, expected: checks[name].expected, got: 'nothing' })
  }
  if (read.complete === true && typeof read.kind === 'string' && !canEnd(read.kind)) {
    problems.push({
      field: 'complete',
      expected: `a kind whose records can end: ${endingKinds.join(', ')}`,
      got: read.kind,
    })
  }
  const isSftp = typeof read.from === 'string' && readPlace(read.from)?.form === 'sftp'
  for (const name of isSftp ? (['secretFile', 'hostKey'] as const) : []) {
    if (given[name] === undefined)
      problems.push({ field: name, expected: `${checks[name].expected}, for SFTP`, got: 'nothing' })
  }
  if (problems.length > 0) {
    const of = typeof given.name === 'string' ? `source ${shownValue(given.name)}` : entry
    const told = problems.map(
      ({ field, expected, got }) => `${field}: expected ${expected}${got === undefined ? '' : `, got ${got}`}`,
    )
    throw new ServiceError('input-unusable', [of, told.join('; ')].filter(Boolean).join(', '))
  }
  const { name, kind, from, schedule, complete = false, guard = 5, secretFile, hostKey } = read
  const reading = Object.fromEntries(readingMembers.flatMap((one) => (one in read ? [[one, read[one]]] : [])))
  return {
    ...({ name, kind, from, schedule, complete, guard } as Omit<
      SourceDefinition,
      'reading' | 'secretFile' | 'hostKey'
    >),
    reading: reading as SourceReading,
    ...(typeof secretFile === 'string' && { secretFile }),
    ...(typeof hostKey === 'string' && { hostKey }),
  }
}

/** An address may have a password or a token, which is shown to nobody. */
function shownOf(name: string, value: unknown): string {
  if (name !== 'from' || typeof value !== 'string') return shownValue(value)
  return /:\/\/[^/]*:[^/]*@/.test(value) ? 'an address with a password' : shownValue(shownPlace(value))
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
