import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../test/support/servers/free-port.js'

/** A server in a process of its own, which ends with its owner. */
export type RunningServer<T = string> = AsyncDisposable & { readonly value: T; readonly pid: number }

/** A floor: a file of the transpiled program whose first line of output is JSON and that exits when its input ends. */
export async function startFloor<T>(program: string, file: string, ...args: string[]): Promise<RunningServer<T>> {
  const child = start(program, [file, ...args], {})
  if (!child.stdout) throw new Error(`${file} has no output`)
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  return {
    value: JSON.parse(line) as T,
    pid: child.pid ?? 0,
    [Symbol.asyncDispose]: async () => {
      child.stdin?.end()
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}

/** `giving COMMAND` of the transpiled program, its log discarded; ready once `address` answers 200. `value`: its URL. */
export async function startGiving(
  program: string,
  command: 'api' | 'start',
  environment: NodeJS.ProcessEnv,
  address: string,
): Promise<RunningServer> {
  const port = await freePort()
  const child = start(program, ['src/cli.js', command], { ...environment, HOST: '127.0.0.1', PORT: String(port) })
  child.stdout?.resume()
  const url = `http://127.0.0.1:${port}`
  const stop = async () => {
    if (child.exitCode !== null) return
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  for (let tries = 0; tries < 600; tries++) {
    if (child.exitCode !== null) throw new Error(`giving ${command} ended with ${child.exitCode}`)
    const answer = await fetch(url + address, { method: 'HEAD' }).catch(() => undefined)
    if (answer?.ok) return { value: url, pid: child.pid ?? 0, [Symbol.asyncDispose]: stop }
    await sleep(200)
  }
  await stop()
  throw new Error(`giving ${command} does not serve ${address}`)
}

function start(program: string, args: readonly string[], environment: NodeJS.ProcessEnv): ChildProcess {
  return spawn(process.execPath, [...args], {
    cwd: program,
    env: { ...process.env, ...environment },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
}
