import { createPublicKey } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { z } from 'zod'
import { ServiceError } from '../../kernel/errors.js'
import { ifThere } from '../../kernel/system-errors.js'
import { type SeenRelease, type Verification, verifyPublished } from '../../release/verify/verify-published.js'
import { addCommand, type CommandLine, durationOption } from '../command-line.js'
import type { Output } from '../output.js'

/** `giving verify`. */
export function registerVerify(program: Command, { signal, action }: CommandLine): void {
  addCommand(
    program,
    'verify',
    'check a published set from outside; exit code 1 when something is wrong, 2 when it cannot be read',
  )
    .argument('<url>', 'address of the service')
    .addOption(durationOption('--max-age <duration>', 'how old the set may be', '36h'))
    .addOption(durationOption('--max-time <duration>', 'how long the verification may take', '1h'))
    .option('--state <file>', 'remember the release, and report one that is older than the last')
    .option(
      '--key <file>',
      'public key of the publisher: the set must be signed, whole, newest, its history unrewritten',
    )
    .action(action((output, url: string, flags: VerifyFlags) => verify(url, { ...flags, signal }, output)))
}

type VerifyFlags = {
  readonly maxAge: number
  readonly maxTime: number
  /** File that remembers the last verified release. */
  readonly state?: string
  /** File with the public key. */
  readonly key?: string
}

/**
 * Reads a published set from outside and checks it against its manifest, its age, and what was there the last time. Exit
 * code 0 all is well, 1 something is wrong, 2 the set cannot be read. Only a set without findings is remembered.
 */
async function verify(
  url: string,
  { maxAge, maxTime, state, key, signal }: VerifyFlags & { readonly signal: AbortSignal },
  output: Output,
): Promise<number> {
  const publicKey = key === undefined ? undefined : await readPublicKey(key)
  const baseUrl = toBaseUrl(url)
  const last = state === undefined ? undefined : await readState(state)
  const verification = await output.withProgress((update) =>
    verifyPublished({
      ...{ baseUrl, maxAgeHours: maxAge / 3600, maxSeconds: maxTime, now: new Date(), last, signal },
      ...(publicKey !== undefined && { publicKey }),
      onProgress: (done, total) => update('files', done, total),
    }),
  )
  const { findings, seen } = verification
  if (findings.length === 0 && state !== undefined) await writeState(state, seen)
  return output.result({ ok: findings.length === 0, ...verification }, () => describe(verification), {
    code: findings.length === 0 ? 0 : 1,
  })
}

/** The address of the service, or of its manifest. */
function toBaseUrl(url: string): string {
  const base = URL.canParse(url) ? new URL(url) : undefined
  if (!base || !/^https?:$/.test(base.protocol)) {
    throw new ServiceError('input-unusable', `expected an http or https address, got "${url}"`)
  }
  return `${base.origin}${base.pathname}`.replace(/\/feeds\/manifest\.json$/, '').replace(/\/+$/, '')
}

async function readPublicKey(file: string): Promise<string> {
  try {
    const text = await readFile(file, 'utf8')
    if (createPublicKey(text).asymmetricKeyType === 'ed25519') return text
  } catch (error) {
    throw new ServiceError('input-unusable', `the key file ${file} cannot be read as a public key in PEM`, {
      cause: error,
    })
  }
  throw new ServiceError('input-unusable', `expected an Ed25519 key in ${file}, got another one`)
}

const stateShape = z.object({
  ...{ release: z.string(), run: z.number().int(), manifestSha256: z.string() },
  recordSha256: z.string().optional(),
  checkedAt: z.string().optional(),
})

async function readState(file: string): Promise<SeenRelease | undefined> {
  let text: string | undefined
  try {
    text = await ifThere(readFile(file, 'utf8'))
  } catch (error) {
    throw new ServiceError('input-unusable', `the state file ${file} cannot be read`, { cause: error })
  }
  try {
    return text === undefined ? undefined : stateShape.parse(JSON.parse(text))
  } catch (error) {
    throw new ServiceError('input-unusable', `${file} is not a state file of giving verify`, { cause: error })
  }
}

async function writeState(file: string, seen: SeenRelease): Promise<void> {
  try {
    await writeFile(`${file}.tmp`, `${JSON.stringify(seen)}\n`)
    await rename(`${file}.tmp`, file)
  } catch (error) {
    throw new ServiceError('input-unusable', `the state file ${file} cannot be written`, { cause: error })
  }
}

function describe({ release, run, ageHours, files, bytes, findings, notCompared }: Verification): string[] {
  const verdict = findings.length === 0 ? 'all is well' : `${findings.length} findings`
  return [
    ...findings.map(({ code, address, expected, got }) => `${code}: ${address}: expected ${expected}, got ${got}`),
    `release ${release} of run ${run}, ${ageHours} hours old: ${files} files, ${bytes} bytes: ${verdict}`,
    `not compared, since no hash reaches them: ${notCompared.join(', ')}`,
  ]
}
