import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

/** A server in a process of its own, which ends with its owner. */
export type RunningServer = AsyncDisposable & { readonly url: string }

/** node:http with createReadStream over a file and its twin. */
export async function startBareServer(program: string, file: string): Promise<RunningServer> {
  const child = start(program, ['bench/downloads/bare-server.js', file], {})
  if (!child.stdout) throw new Error('the bare server has no output')
  const [port] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      child.stdin?.end()
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}

/** `giving start`, API and worker in one process; ready when `address` answers 200. */
export async function startGiving(
  program: string,
  environment: NodeJS.ProcessEnv,
  address: string,
): Promise<RunningServer> {
  const port = await freePort()
  const child = start(program, ['src/cli.js', 'start'], { ...environment, HOST: '127.0.0.1', PORT: String(port) })
  child.stdout?.resume()
  const url = `http://127.0.0.1:${port}`
  const stop = async () => {
    if (child.exitCode !== null) return
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  for (let tries = 0; tries < 600; tries++) {
    if (child.exitCode !== null) throw new Error(`giving start ended with ${child.exitCode}`)
    const answer = await fetch(url + address, { method: 'HEAD' }).catch(() => undefined)
    if (answer?.ok) return { url, [Symbol.asyncDispose]: stop }
    await sleep(200)
  }
  await stop()
  throw new Error(`giving start does not serve ${address}`)
}

function start(program: string, args: readonly string[], environment: NodeJS.ProcessEnv): ChildProcess {
  return spawn(process.execPath, [...args], {
    cwd: program,
    env: { ...process.env, ...environment },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
