import { z } from 'zod'
import { ServiceError } from '../../kernel/errors.js'
import {
  chainText,
  checkChain,
  nextRecord,
  recordHash,
  type SigningKey,
  signerKeyOf,
  type WitnessRecord,
} from '../../kernel/release-chain.js'
import { HttpClient } from '../../platform/outgoing/http-client.js'
import { chainAddress, connectionLimits, maxChainBytes, readText } from './read-address.js'
import {
  type ChainFinding,
  linkShape,
  missingRecord,
  readJson,
  readReleases,
  type SeenRecord,
  toFinding,
} from './verify-chain.js'

const witnessShape = z.object({
  witnessed: z.array(
    linkShape.extend({
      ...{ url: z.string(), release: z.string(), ofRun: z.number().int(), recordSha256: z.string() },
      seenAt: z.iso.datetime(),
    }),
  ),
})

/** What a witness has seen, oldest first; undefined when the text is not that of a witness. */
function readWitness(text: string | undefined): WitnessRecord[] | undefined {
  return readJson<{ witnessed: WitnessRecord[] }>(text, witnessShape)?.witnessed
}

const toSeen = ({ ofRun, recordSha256 }: WitnessRecord, by: string): SeenRecord => ({ run: ofRun, recordSha256, by })

/** Another service, and its chain of releases as it publishes it now. */
export type Witnessed = { readonly url: string; readonly releases: string | undefined }

/** The file of this witness after looking at a chain; unchanged where the newest record is known, or there are findings. */
export type Countersigned = { readonly text: string | undefined; readonly findings: readonly ChainFinding[] }

/**
 * Countersigns the newest record of another's chain: appends what was seen to the file of this witness. A chain without a record
 * that was seen before, or whose newest record is not signed by the key that was trusted then, is a finding and not countersigned.
 * Throws `input-unusable` when the file is not one of this command.
 */
export function countersign(
  file: string | undefined,
  { url, releases }: Witnessed,
  signer: SigningKey,
  seenAt: string,
): Countersigned {
  const records = file === undefined ? [] : readWitness(file)
  if (!records) throw new ServiceError('input-unusable', 'the file of this witness is not as giving witness wrote it')
  const chain = readReleases(releases)
  const newest = chain?.at(-1)
  if (!chain || !newest) {
    const got = releases === undefined ? 'none' : 'no chain'
    return { text: file, findings: [{ code: 'unsigned', expected: 'a chain of releases', got }] }
  }
  const seen = records.filter((record) => record.url === url)
  const missing = missingRecord(
    chain,
    seen.map((record) => toSeen(record, `this witness saw it at ${record.seenAt}`)),
  )
  if (missing) return { text: file, findings: [missing] }
  const last = seen.at(-1)
  // On first sight the key of the newest record is believed; from then on the one that signed what was seen.
  const trusted = chain.find((record) => recordHash(record) === last?.recordSha256) ?? newest
  const key = signerKeyOf(chain, trusted)
  if (key === undefined) {
    return { text: file, findings: [{ code: 'unsigned', expected: 'signed releases', got: `no key of ${url}` }] }
  }
  const findings = checkChain(chain, key).faults.map((fault) => toFinding(fault, chain[fault.record]))
  const recordSha256 = recordHash(newest)
  if (findings.length > 0 || last?.recordSha256 === recordSha256) return { text: file, findings }
  const facts = { url, release: newest.release, ofRun: newest.run, recordSha256, seenAt }
  return { text: chainText('witnessed', [...records, nextRecord(facts, records.at(-1), signer)]), findings }
}

/** What a witness has seen of a service, by the witness's public key (PEM), or by the one that its newest record has. */
export function witnessedOf(
  text: string | undefined,
  { url, by, publicKey }: { readonly url: string; readonly by: string; readonly publicKey?: string | undefined },
): { readonly seen: readonly SeenRecord[]; readonly findings: readonly ChainFinding[] } {
  if (text === undefined) return { seen: [], findings: [unwitnessed(url)] }
  const records = readWitness(text)
  const newest = records?.at(-1)
  const key = publicKey ?? (records && newest && signerKeyOf(records, newest))
  const faults = records && key !== undefined ? checkChain(records, key).faults : []
  if (!records || key === undefined || faults.length > 0) {
    const got = faults[0]?.detail ?? 'another file'
    return { seen: [], findings: [{ code: 'forged', expected: 'a file signed by the witness', got }] }
  }
  const seen = records.filter((record) => record.url === url)
  return {
    seen: seen.map((record) => toSeen(record, `${by} saw it at ${record.seenAt}`)),
    findings: seen.length === 0 ? [unwitnessed(url)] : [],
  }
}

const unwitnessed = (url: string): ChainFinding => ({
  code: 'unwitnessed',
  expected: `a record of ${url}`,
  got: 'none',
})

/** The chain of releases of a service; undefined where it has none. Throws `input-unusable` when nothing answers. */
export async function readChain(url: string, signal: AbortSignal): Promise<string | undefined> {
  await using client = new HttpClient(connectionLimits)
  return await readText(client, `${url}${chainAddress}`, maxChainBytes, signal)
}
