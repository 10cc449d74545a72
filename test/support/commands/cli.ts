import { type ChildProcess, execFile, type ForkOptions, fork, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { stripTypes } from '../runner/strip-types.mjs'

const project = path.resolve(import.meta.dirname, '../../..')

const cache = path.join(project, 'node_modules/.cache')

let ours: Promise<string> | undefined

/**
 * Strips the types of the whole program, and of what tests run in processes of their own, into a folder from which its
 * packages resolve: starting a command then takes half a second, and what runs is what the sources say now, built or not.
 * Equal sources share one folder, which stays.
 */
export async function transpileProgram(sources = project): Promise<string> {
  if (sources !== project) {
    const earlier = await transpile(sources, ['src', 'jobs'])
    await installLacking(sources, earlier)
    return earlier
  }
  ours ??= transpile(project, ['src', 'jobs', 'test/support', 'test/campaign/support'])
  return await ours
}

/** Forks a file of ours, such as `test/support/processes/receipt-process.ts`, as `transpileProgram` has it. */
export async function forkStripped(
  file: string,
  args: readonly string[],
  stdio: ForkOptions['stdio'] = ['ignore', 'inherit', 'inherit', 'ipc'],
): Promise<ChildProcess> {
  return fork(path.join(await transpileProgram(), file.replace(/\.ts$/, '.js')), args, { stdio })
}

async function transpile(sources: string, rooms: readonly string[]): Promise<string> {
  const files = await sourceFiles(sources, rooms)
  const hash = createHash('sha256')
  for (const { relative, text } of files) hash.update(`${relative}\0`).update(text)
  const target = path.join(cache, `giving-e2e-${hash.digest('hex').slice(0, 16)}`)
  if (existsSync(target)) return target
  await removeOldPrograms()
  const draft = `${target}.${randomBytes(4).toString('hex')}`
  for (const { relative, text } of files) {
    const file = path.join(draft, relative)
    await mkdir(path.dirname(file), { recursive: true })
    if (/\.d\.ts$/.test(relative)) continue
    if (!file.endsWith('.ts')) {
      await writeFile(file, text)
      continue
    }
    await writeFile(file.replace(/\.ts$/, '.js'), await stripTypes(relative, text.toString()))
  }
  // The scripts of package.json name the built program.
  await symlink('.', path.join(draft, 'dist'))
  try {
    await rename(draft, target)
  } catch (error) {
    // Another process was faster.
    if (!existsSync(target)) throw error
    await rm(draft, { recursive: true })
  }
  return target
}

/** Gives an earlier version its own packages where this one does without some of them. */
async function installLacking(sources: string, program: string): Promise<void> {
  const packagesOf = async (folder: string) =>
    JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as Record<string, object>
  const { dependencies, devDependencies } = await packagesOf(project)
  const ours = { ...dependencies, ...devDependencies }
  const lacksNone = Object.keys((await packagesOf(sources)).dependencies ?? {}).every((name) => name in ours)
  const target = path.join(program, 'node_modules')
  if (lacksNone || existsSync(target)) return
  const install = ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund']
  await promisify(execFile)('npm', install, { cwd: sources })
  await cp(path.join(sources, 'node_modules'), target, { recursive: true, verbatimSymlinks: true })
}

async function sourceFiles(sources: string, rooms: readonly string[]) {
  const names = ['package.json']
  for (const room of rooms) {
    for (const entry of await readdir(path.join(sources, room), { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) names.push(path.relative(sources, path.join(entry.parentPath, entry.name)))
    }
  }
  return await Promise.all(
    names.sort().map(async (relative) => ({ relative, text: await readFile(path.join(sources, relative)) })),
  )
}

const keptMs = 6 * 3_600_000

async function removeOldPrograms(): Promise<void> {
  for (const name of await readdir(cache).catch(() => [])) {
    const folder = path.join(cache, name)
    if (!name.startsWith('giving-e2e-') || Date.now() - (await stat(folder)).mtimeMs < keptMs) continue
    await rm(folder, { recursive: true, force: true })
  }
}

/** What a command said and how it ended. */
export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

/** A folder of its own for one installation, with every command of `giving` running against it. */
export type Installation = {
  readonly dataDir: string
  /** Runs a command to its end. */
  run(args: readonly string[], input?: string): Promise<Ended>
  /** The same in this process, which does without a second of loading; what it logs is lost. */
  runHere(args: readonly string[], input?: string): Promise<Ended>
  /** Starts `giving start`; resolves when its first publication has ended. */
  start(): Promise<RunningService>
  /** Starts a service; resolves when it says that it is ready, or prints `ready`. */
  serve(kind: 'api' | 'worker' | 'start', ready?: string): Promise<RunningService>
  /** Stops what is still running and removes the folder and the database in it. */
  remove(): Promise<void>
}

/** A running `giving start`. */
export type RunningService = {
  readonly baseUrl: string
  readonly pid: number
  /** Everything it has printed so far, its log included. */
  output(): string
  /** Resolves when the output holds this text. */
  printed(text: string): Promise<void>
  kill(signal: NodeJS.Signals): void
  /** Resolves with the exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>
}

/** All requests of a test come from one address, so they are not counted. */
export const noRates = { RATE_LIMIT_PER_MINUTE: '0', RATE_LIMIT_PER_ADDRESS: '0' } as const

/** Tests wait for dead workers, and for processes that stop without a proxy before them; a worker is one process. */
const quick = {
  FACTS_CONFIRMED: 'yes',
  QUEUE_LOCK_SECONDS: '2',
  SHUTDOWN_DRAIN_SECONDS: '0',
  WORKER_PROCESSES: '1',
} as const

/**
 * A fresh installation; `environment` is added to that of its commands, which may open `openFiles` files (ulimit -n), are
 * begun by a shell with the lines `first`, and are made of the sources in a folder, ours when it is absent.
 */
export async function newInstallation(
  environment: Record<string, string> = {},
  {
    openFiles,
    first = [],
    sources,
  }: { readonly openFiles?: number; readonly first?: readonly string[]; readonly sources?: string } = {},
): Promise<Installation> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'giving-e2e-'))
  const program = await transpileProgram(sources)
  const started: ChildProcess[] = []
  const settings = { GIVING_DATA_DIR: dataDir, PORT: '0', OPS_PORT: '0', ...quick, ...noRates, ...environment }
  const launch = (args: readonly string[]) => {
    const { PATH = '', HOME = '' } = process.env
    const command = [process.execPath, path.join(program, 'src/cli.js'), ...args]
    const lines = [...(openFiles === undefined ? [] : [`ulimit -n ${openFiles}`]), ...first]
    const child = spawn('sh', ['-c', [...lines, 'exec "$@"'].join('; '), 'sh', ...command], {
      env: { PATH, HOME, ...settings },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    started.push(child)
    return child
  }
  return {
    dataDir,
    run: async (args, input = '') => {
      const child = launch(args)
      child.stdin.end(input)
      const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)))
      const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
      return { code: await ended, stdout, stderr }
    },
    runHere: async (args, input = '') => {
      const { runCommandLine } = await import('./command-line.js')
      return await runCommandLine(args, { ...settings, LOG_LEVEL: 'silent' }, input)
    },
    start: () => awaitStart(launch(['start']), 'ready: ', /ready: (http:[^\s"]+?)\/["\n]/),
    serve: (kind, ready) =>
      ready !== undefined
        ? awaitStart(launch([kind]), ready, undefined)
        : kind === 'api'
          ? awaitStart(launch(['api']), 'listening on ', /listening on (http:[^\s"]+)["\n]/)
          : awaitStart(launch(['worker']), 'worker ready; ', undefined),
    remove: async () => {
      for (const child of started) if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
      const record = path.join(dataDir, 'postgres-launcher/server.json')
      const cluster = await readFile(record, 'utf8').then(
        (json) => (JSON.parse(json) as { clusterDir: string }).clusterDir,
        () => undefined,
      )
      if (cluster) {
        // Opening and giving back stops a server whose owners were killed.
        const { openEmbeddedPostgres } = await import('../../../src/platform/embedded-postgres/embedded-postgres.js')
        await (await openEmbeddedPostgres({ dataDir })).release()
        await rm(cluster, { recursive: true, force: true })
      }
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** Waits for `ready` in the output; where there is an `address` to be found, its first group is the base address. */
async function awaitStart(child: ChildProcess, ready: string, address: RegExp | undefined): Promise<RunningService> {
  let output = ''
  const waiting = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      // A service under load writes more than a string can hold.
      output = (output + chunk).slice(-(2 ** 24))
      for (const look of waiting) look()
    })
  }
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) =>
    child.once('close', (code, signal) => {
      resolve(code ?? signal)
      for (const look of waiting) look()
    }),
  )
  const printed = (wanted: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        const closed = child.exitCode !== null || child.signalCode !== null
        if (!output.includes(wanted) && !closed) return
        waiting.delete(look)
        if (output.includes(wanted)) resolve()
        else reject(new Error(`the service ended without printing ${JSON.stringify(wanted)}:\n${output}`))
      }
      waiting.add(look)
      look()
    })
  await printed(ready)
  const baseUrl = address === undefined ? '' : address.exec(output)?.[1]
  if (baseUrl === undefined || child.pid === undefined) throw new Error(`no address in the output:\n${output}`)
  return { baseUrl, pid: child.pid, output: () => output, printed, kill: (signal) => child.kill(signal), ended }
}
