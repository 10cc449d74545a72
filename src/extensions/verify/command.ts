import { createPublicKey } from 'node:crypto'
import { constants } from 'node:fs'
import { access, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { type Command, Option } from 'commander'
import { addLongCommand, argument, type CommandLine, durationOption } from '../../cli/command-line.js'
import type { Output } from '../../cli/output.js'
import { ServiceError } from '../../kernel/errors.js'
import { objectType, optional, requireObject, textType, wholeType } from '../../kernel/read-object.js'
import { ifThere } from '../../kernel/system-errors.js'
import { wholeNumberIn } from '../../kernel/values.js'
import type { Environment } from '../../platform/config/config.js'
import { type SeenRelease, type Verification, verifyPublished } from './verify-published.js'

/** `giving verify`. */
export function registerVerify(program: Command, { signal, environment, action }: CommandLine): void {
  addLongCommand(
    program,
    'verify',
    'check a published set from outside; exit code 1 when something is wrong, 2 when it cannot be read',
  )
    .argument('<url>', 'address of the service')
    .addOption(durationOption('--max-age <duration>', 'how old the set may be at most', '36h'))
    .addOption(durationOption('--max-time <duration>', 'how long the verification may take at most', '1h'))
    .addOption(
      new Option('--sample <count>', 'how many activities, chosen at random, are compared with the signed index')
        .argParser(argument('a whole number from 0 to 1000', wholeNumberIn(0, 1000).parse))
        .default(100),
    )
    .option(
      '--state <file>',
      'remember the release here, and report an older one next time; default: a file in XDG_STATE_HOME',
    )
    .option('--no-state', 'remember nothing')
    .option(
      '--key <file>',
      'public key of the publisher: the set must be signed, whole and the newest, and its history not rewritten',
    )
    .action(action((output, url: string, flags: VerifyFlags) => verify(url, { ...flags, environment, signal }, output)))
}

type VerifyFlags = {
  readonly maxAge: number
  readonly maxTime: number
  readonly sample: number
  /** File that remembers the last verified release; false: none; undefined: the usual one. */
  readonly state?: string | false
  /** File with the public key. */
  readonly key?: string
}

/**
 * Reads a published set from outside and checks it against its manifest, its age, and what was there the last time. Exit
 * code 0 all is well, 1 something is wrong, 2 the set cannot be read. Only a set without findings is remembered.
 */
async function verify(
  url: string,
  flags: VerifyFlags & Pick<CommandLine, 'environment' | 'signal'>,
  output: Output,
): Promise<number> {
  const { maxAge, maxTime, sample, key, signal } = flags
  const publicKey = key === undefined ? undefined : await readPublicKey(key)
  const baseUrl = toBaseUrl(url)
  const state = flags.state ?? (await usualState(baseUrl, flags.environment))
  const last = state === false ? undefined : await readState(state)
  const verification = await output.withProgress((update) =>
    verifyPublished({
      ...{ baseUrl, maxAgeHours: maxAge / 3600, maxSeconds: maxTime, now: new Date(), last, sample, signal },
      ...(publicKey !== undefined && { publicKey }),
      onProgress: (done, total) => update('files', done, total),
    }),
  )
  const { findings, seen } = verification
  if (findings.length === 0 && state !== false) await writeState(state, seen)
  const lines = [...describe(verification), ...describeMemory(state, last, maxAge / 3600)]
  return output.result(
    { ok: findings.length === 0, ...verification, state: state === false ? null : state },
    () => lines,
    {
      code: findings.length === 0 ? 0 : 1,
    },
  )
}

/** The address of a service without trailing slash, from it or from the address of its manifest. Throws `input-unusable`. */
function toBaseUrl(url: string): string {
  const base = URL.canParse(url) ? new URL(url) : undefined
  if (!base || !/^https?:$/.test(base.protocol)) {
    throw new ServiceError('input-unusable', `expected an http or https address, got "${url}"`)
  }
  return `${base.origin}${base.pathname}`.replace(/\/feeds\/manifest\.json$/, '').replace(/\/+$/, '')
}

/** The file in the user's folder for states that remembers this set; false where none can be written. */
async function usualState(baseUrl: string, { XDG_STATE_HOME, HOME }: Environment): Promise<string | false> {
  const home = HOME && path.join(HOME, '.local/state')
  // The XDG specification: a path that is not absolute is ignored.
  const states = XDG_STATE_HOME && path.isAbsolute(XDG_STATE_HOME) ? XDG_STATE_HOME : home
  if (!states) return false
  const folder = path.join(states, 'giving-verify')
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await access(folder, constants.W_OK)
    return path.join(folder, `${encodeURIComponent(baseUrl)}.json`)
  } catch {
    return false
  }
}

/** What was remembered, and what may pass unseen for want of it. */
function describeMemory(state: string | false, last: SeenRelease | undefined, hours: number): string[] {
  const unseen = `an older set that is genuine passes until it is ${hours} hours old (--max-age)`
  if (state === false) return [`nothing is remembered (no --state): ${unseen}`]
  if (last === undefined) return [`nothing was remembered before in ${state}: this time ${unseen}`]
  return [`compared with release ${last.release}, remembered in ${state}`]
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

const text = textType()
const stateShape = objectType({
  ...{ release: text, run: wholeType(), manifestSha256: text },
  ...{ recordSha256: optional(text), checkedAt: optional(text) },
})

async function readState(file: string): Promise<SeenRelease | undefined> {
  let text: string | undefined
  try {
    text = await ifThere(readFile(file, 'utf8'))
  } catch (error) {
    throw new ServiceError('input-unusable', `the state file ${file} cannot be read`, { cause: error })
  }
  try {
    return text === undefined ? undefined : requireObject(stateShape, JSON.parse(text))
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

function describe({ release, run, ageHours, files, bytes, activities, findings, notCompared }: Verification): string[] {
  const verdict = findings.length === 0 ? 'all is well' : `${findings.length} findings`
  return [
    ...findings.map(({ code, address, expected, got }) => `${code}: ${address}: expected ${expected}, got ${got}`),
    `release ${release} of run ${run}, ${ageHours} hours old: ${files} files, ${bytes} bytes: ${verdict}`,
    `single activities compared with the index: ${activities.compared} of ${activities.of}`,
    `not compared, since nothing signed reaches them: ${notCompared.join(', ')}`,
  ]
}
