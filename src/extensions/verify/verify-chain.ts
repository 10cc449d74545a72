import {
  listType,
  type MemberType,
  objectType,
  ofOthers,
  optional,
  readObject,
  textType,
  utcType,
  wholeType,
} from '../../kernel/read-object.js'
import {
  type ChainFault,
  type CheckedRelease,
  checkChain,
  isChecked,
  type ReleaseRecord,
  recordHash,
} from '../../kernel/release-chain.js'

/** The files of a set that its publisher signed, as texts; undefined where there is none. */
export type SignedTexts = { readonly releases: string | undefined; readonly checked: string | undefined }

/** The release that a chain must have, when it was seen before. */
type SeenRecord = {
  readonly run: number
  readonly recordSha256?: string | undefined
  readonly checkedAt?: string | undefined
}

export type ChainFinding = {
  readonly code: 'unsigned' | 'forged' | 'fork' | 'rollback'
  readonly expected: string
  readonly got: string
}

/** What the publisher's key says of a set. */
export type ChainVerdict = {
  readonly findings: readonly ChainFinding[]
  /** SHA-256 of the newest record. */
  readonly recordSha256?: string
  /** When the publisher last stated that the set was up to date. */
  readonly checkedAt?: string
}

/** The members by which records are linked and signed. */
const text = textType()
const links = { previous: optional(text), key: optional(text), signature: optional(text) }
const recordShape = objectType({
  ...links,
  newKey: optional(objectType({ publicKey: text, replaces: optional(text), signature: optional(text) })),
  ...{ release: text, run: wholeType(), generated: utcType, manifestSha256: text },
})
const chainShape = objectType({ releases: listType(recordShape, 1) })
const checkedShape = objectType({
  ...{ release: text, manifestSha256: text, checkedAt: utcType },
  ...{ key: text, signature: text },
})

/**
 * Checks by a public key (PEM) that a manifest is the newest of an unbroken chain that the key's owner signed, and that has the
 * record that was seen before.
 */
export function verifyChain(
  { releases, checked }: SignedTexts,
  manifestSha256: string,
  publicKey: string,
  seen: SeenRecord | undefined,
): ChainVerdict {
  const records = readReleases(releases)
  const newest = records?.at(-1)
  if (!records || !newest) {
    return {
      findings: [
        { code: 'unsigned', expected: 'a chain of releases', got: releases === undefined ? 'none' : 'no chain' },
      ],
    }
  }
  const { faults, trusted } = checkChain(records, publicKey)
  const findings: ChainFinding[] = faults.map((fault) => toFinding(fault, records[fault.record]))
  if (newest.manifestSha256 !== manifestSha256) {
    const older = records.find((record) => record.manifestSha256 === manifestSha256)
    findings.push({
      code: older ? 'rollback' : 'forged',
      expected: `the manifest of release ${newest.release}`,
      got: older ? `that of release ${older.release}` : `sha256 ${manifestSha256}`,
    })
  }
  const missing = seen && missingRecord(records, seen)
  if (missing) findings.push(missing)
  const statement = readJson<CheckedRelease>(checked, checkedShape)
  const isSigned = statement !== undefined && isChecked(statement, trusted)
  // Where the chain has faults, they say enough.
  if (checked !== undefined && !isSigned && faults.length === 0) {
    findings.push({
      code: 'forged',
      expected: 'checked.json signed by the publisher',
      got: 'another signature, or none',
    })
  } else if (checked === undefined && seen?.checkedAt !== undefined) {
    findings.push({ code: 'rollback', expected: `checked.json, which was there at ${seen.checkedAt}`, got: 'none' })
  }
  const isValid = isSigned && statement.manifestSha256 === manifestSha256
  return {
    findings,
    recordSha256: recordHash(newest),
    ...(statement && isValid && { checkedAt: statement.checkedAt }),
  }
}

/** The records of a chain of releases; undefined when the text is none. */
function readReleases(text: string | undefined): ReleaseRecord[] | undefined {
  return readJson<{ releases: ReleaseRecord[] }>(text, chainShape)?.releases
}

/** What it means that a chain lacks the record that was seen; undefined when it has it. */
function missingRecord(records: readonly ReleaseRecord[], seen: SeenRecord): ChainFinding | undefined {
  const { run, recordSha256 } = seen
  const newest = records.at(-1)
  if (!newest || recordSha256 === undefined || records.some((record) => recordHash(record) === recordSha256))
    return undefined
  return {
    code: newest.run < run ? 'rollback' : 'fork',
    expected: `the record of run ${run} as before`,
    got: `a chain up to run ${newest.run} without it`,
  }
}

function toFinding({ code, detail }: ChainFault, record: ReleaseRecord | undefined): ChainFinding {
  const expected = code === 'broken' ? 'an unbroken chain of releases' : 'a signature of the publisher'
  return { code: code === 'broken' ? 'fork' : 'forged', expected, got: `release ${record?.release}: ${detail}` }
}

/**
 * The parsed document; undefined unless JSON.stringify would write it the same but for white space: readers disagree on which
 * of two members of one name counts.
 */
export function strictJson(text: string | undefined): unknown {
  try {
    const document: unknown = JSON.parse(text ?? '')
    const dense = (text ?? '').replace(/("(?:[^"\\]|\\.)*")|[ \t\r\n]+/g, '$1')
    return dense === JSON.stringify(document) ? document : undefined
  } catch {
    return undefined
  }
}

/** Such a document, with all that it has, when it has the shape. */
function readJson<T>(text: string | undefined, shape: MemberType): T | undefined {
  const document = strictJson(text)
  return readObject(shape, document, ofOthers).value ? (document as T) : undefined
}
