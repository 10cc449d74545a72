import { request } from 'undici'
import { CleanupStack } from '../../../src/cli/wiring/cleanup-stack.js'
import { openMetrics } from '../../../src/cli/wiring/metrics.js'
import { openRuntime } from '../../../src/cli/wiring/runtime.js'
import { consoleFields, serveConsole } from '../../../src/cli/wiring/serve-console.js'

/** The console as a process serves it, in this environment, which names a database and a data directory. The caller closes it. */
export async function openConsole(environment: Record<string, string>) {
  const runtime = await openRuntime({ OPS_PORT: '0', LOG_LEVEL: 'silent', ...environment }, consoleFields, {
    signal: new AbortController().signal,
  })
  const cleanup = new CleanupStack()
  const close = async () => {
    await cleanup[Symbol.asyncDispose]()
    await runtime[Symbol.asyncDispose]()
  }
  try {
    const base = await serveConsole(runtime, openMetrics(runtime), cleanup)
    const ask = async (address: string, headers: Record<string, string> = {}, body?: string) => {
      const answer = await request(base + address, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { ...(body !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }), ...headers },
        ...(body !== undefined && { body }),
      })
      return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() }
    }
    /** Fills the form at an address in, and sends it as a browser does. */
    const confirm = async (address: string, fields: Record<string, string>, headers: Record<string, string> = {}) => {
      const [, token = ''] = /name="token" value="(\w+)"/.exec((await ask(address, headers)).text) ?? []
      return await ask(address, { origin: base, ...headers }, new URLSearchParams({ token, ...fields }).toString())
    }
    return { base, ask, confirm, close }
  } catch (error) {
    await close()
    throw error
  }
}

export type Console = Awaited<ReturnType<typeof openConsole>>
