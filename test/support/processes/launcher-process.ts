import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import ts from 'typescript'

const project = path.resolve(import.meta.dirname, '../../..')

/** What a launcher process says about the server it opened, or why it could not. */
export type Opened = {
  readonly url: string
  readonly clusterDir: string
  readonly joined: boolean
  readonly error?: { readonly code: string; readonly message: string }
}

/** A separate process that opens the embedded server of a data directory and holds it. */
export type LauncherProcess = {
  /** Resolves when the launcher has logged a line that holds this text. */
  logged(text: string): Promise<void>
  readonly opened: Promise<Opened>
  /** Releases and ends; resolves when the process has ended and closed its output. */
  release(): Promise<void>
  /** Kill -9; resolves when the process has ended. */
  kill(): Promise<void>
}

/** Compiles the launcher alone, since the rest of the program may not be built; returns how to run and remove it. */
export async function buildLauncher() {
  const dir = await mkdtemp(path.join(tmpdir(), 'giving-launcher-'))
  const files = (await readdir(path.join(project, 'src/platform/embedded-postgres'))).map(
    (name) => `src/platform/embedded-postgres/${name}`,
  )
  const kernel = ['errors', 'system-errors', 'refuse-aborted'].map((name) => `src/kernel/${name}.ts`)
  for (const file of [...kernel, ...files]) {
    const source = await readFile(path.join(project, file), 'utf8')
    const compilerOptions = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true }
    const target = path.join(dir, file.replace(/\.ts$/, '.js'))
    await mkdir(path.dirname(target), { recursive: true })
    await writeFile(target, ts.transpileModule(source, { compilerOptions }).outputText)
  }
  await writeFile(path.join(dir, 'package.json'), '{"type":"module"}')
  await writeFile(path.join(dir, 'hold.js'), holdProgram)
  await symlink(path.join(project, 'node_modules'), path.join(dir, 'node_modules'))
  return {
    dir,
    start: (dataDir: string, user?: { readonly uid: number; readonly gid: number }) => start(dir, dataDir, user),
    remove: () => rm(dir, { recursive: true, force: true }),
  }
}

const holdProgram = `
import { openEmbeddedPostgres } from './src/platform/embedded-postgres/embedded-postgres.js'
const say = (value) => process.stdout.write(JSON.stringify(value) + '\\n')
try {
  const server = await openEmbeddedPostgres({ dataDir: process.argv[2], log: (message) => say({ log: message }) })
  say({ opened: { url: server.url, clusterDir: server.clusterDir, joined: server.joined } })
  process.stdin.on('data', async () => { await server.release(); process.exit(0) })
} catch (error) {
  say({ opened: { error: { code: error.code, message: error.message } } })
}
`

function start(dir: string, dataDir: string, user?: { readonly uid: number; readonly gid: number }): LauncherProcess {
  const child = spawn(process.execPath, [path.join(dir, 'hold.js'), dataDir], {
    stdio: ['pipe', 'pipe', 'inherit'],
    ...user,
  })
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const lines: string[] = []
  const listeners = new Set<() => void>()
  let opened: (value: Opened) => void = () => undefined
  const openedPromise = new Promise<Opened>((resolve) => {
    opened = resolve
  })
  createInterface({ input: child.stdout }).on('line', (line) => {
    const said = JSON.parse(line) as { log?: string; opened?: Opened }
    if (said.log !== undefined) lines.push(said.log)
    if (said.opened !== undefined) opened(said.opened)
    for (const listener of listeners) listener()
  })
  return {
    opened: openedPromise,
    logged: (text) =>
      new Promise((resolve) => {
        const look = () => {
          if (!lines.some((line) => line.includes(text))) return
          listeners.delete(look)
          resolve()
        }
        listeners.add(look)
        look()
      }),
    release: () => end(child, closed, () => child.stdin.write('release\n')),
    kill: () => end(child, closed, () => child.kill('SIGKILL')),
  }
}

async function end(child: ChildProcess, closed: Promise<void>, how: () => unknown): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) how()
  await closed
}
