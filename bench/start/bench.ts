import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, rm, symlink } from 'node:fs/promises'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { freePort } from '../../test/support/servers/free-port.js'
import { atMost, type Bench, type BenchResult, type BenchSetting, median } from '../suite/bench.js'
import { bytesOnDisk } from '../suite/bytes-on-disk.js'
import { spread } from '../suite/contest.js'
import type { Workshop } from '../suite/workshop.js'

/** `npm start` where there is nothing yet, and what an installation takes on the disk. */
export const bench: Bench = {
  name: 'start',
  about: 'npm start in an empty folder, npm included, to the first release; what npm ci --omit=dev takes on the disk',
  byDefault: true,
  run,
}

/** Lines of `giving start`, in their order. */
const steps = [
  ['PostgreSQL opens', /^started PostgreSQL/],
  ['the schema is made', /^schema: /],
  ['demo data is in', /^the store was empty/],
  ['the worker is there', /^publishing/],
  ['the first release is live', /^ready: /],
] as const

async function run({ quick, workshop, progress }: BenchSetting): Promise<BenchResult> {
  // As `npm run build` leaves it, for the script of package.json.
  await symlink('.', path.join(await workshop.program(), 'dist'))
  const rounds: number[][] = []
  const count = quick ? 3 : 9
  for (let round = 0; round <= count; round++) {
    progress(round === 0 ? 'npm start: warm-up' : `npm start: round ${round} of ${count}`)
    const seconds = await start(workshop)
    if (round > 0) rounds.push(seconds)
  }
  const ofStep = (index: number) => rounds.map((round) => round[index] ?? Number.NaN)
  progress('npm ci --omit=dev')
  const installed = await install(await workshop.folder('install'))
  return {
    tables: [
      {
        title: `${count} starts; seconds until, median (spread)`,
        columns: ['', 'seconds'],
        rows: steps.map(([name], index) => [name, spread(ofStep(index))]),
      },
    ],
    bars: [
      atMost(5, 'npm start in an empty folder, to the first release', median(ofStep(steps.length - 1)), 's'),
      atMost(170, 'npm ci --omit=dev', installed / 1e6, 'MB'),
    ],
  }
}

/** Starts everything with a new data directory, and ends it when the release is live; returns the seconds of each step. */
async function start(workshop: Workshop): Promise<number[]> {
  const [program, dataDir] = [await workshop.program(), await workshop.folder('start')]
  const began = performance.now()
  const environment = { GIVING_DATA_DIR: dataDir, PORT: String(await freePort()), OPS_PORT: '0', LOG_FORMAT: 'json' }
  const child = spawn('npm', ['start'], {
    cwd: program,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const ended = once(child, 'exit')
  const seconds: number[] = []
  // Root's server has its data elsewhere.
  let cluster = dataDir
  for await (const line of createInterface({ input: child.stderr })) {
    const said = line.startsWith('{') ? (JSON.parse(line) as { msg: string }).msg : line
    cluster = /^started PostgreSQL .*, data in (.*)$/.exec(said)?.[1] ?? cluster
    const at = steps.findIndex(([, begins]) => begins.test(said))
    if (at >= 0) seconds[at] = (performance.now() - began) / 1000
    if (at === steps.length - 1) child.kill('SIGINT')
  }
  await ended
  if (seconds.length !== steps.length) throw new Error('npm start ended before its first release')
  // Not now: ext4 is slow to make files just after others were deleted.
  workshop.atEnd(() => rm(cluster, { recursive: true, force: true }))
  return seconds
}

/** Installs what a production machine needs; returns the bytes on the disk. */
async function install(folder: string): Promise<number> {
  for (const file of ['package.json', 'package-lock.json']) {
    await copyFile(path.resolve(import.meta.dirname, '../..', file), path.join(folder, file))
  }
  const options = ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--silent']
  const child = spawn('npm', options, { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`npm ${options.join(' ')} ended with ${code}`)
  return await bytesOnDisk(folder)
}
