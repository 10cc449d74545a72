import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

const root = path.resolve(import.meta.dirname, '../..')

/** A process that ends with its owner. */
export type Running<T> = AsyncDisposable & { readonly value: T }

function run(file: string, args: readonly string[], environment: NodeJS.ProcessEnv): ChildProcess {
  return spawn(process.execPath, ['--import', './test/support/register-typescript.mjs', file, ...args], {
    cwd: root,
    env: { ...process.env, ...environment },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
}

/** The floors; the first line that they print has their ports. */
export async function startFloors(
  databaseUrl: string,
  poolSize: number,
): Promise<Running<{ readonly fastify: number; readonly http: number }>> {
  const child = run('bench/api/floors.ts', [databaseUrl, String(poolSize)], {})
  if (!child.stdout) throw new Error('the floors have no output')
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return {
    value: JSON.parse(line) as { fastify: number; http: number },
    [Symbol.asyncDispose]: async () => {
      child.stdin?.end()
      await once(child, 'exit')
    },
  }
}

/** `giving api` as operators run it; its log lines are written and discarded. */
export async function startApi(environment: NodeJS.ProcessEnv): Promise<Running<number>> {
  const port = await freePort()
  const child = run('src/cli.ts', ['api'], { ...environment, HOST: '127.0.0.1', PORT: String(port) })
  const stop = async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null) await once(child, 'exit')
  }
  for (let tries = 0; tries < 150; tries++) {
    if (child.exitCode !== null) throw new Error(`giving api ended with ${child.exitCode}`)
    const answer = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined)
    if (answer?.ok) return { value: port, [Symbol.asyncDispose]: stop }
    await sleep(200)
  }
  await stop()
  throw new Error('giving api does not answer')
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address ? address.port : 0
}
