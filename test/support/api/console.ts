import { request } from 'undici'
import type { UploadLimits } from '../../../src/catalogue/import/uploads.js'
import { CleanupStack } from '../../../src/cli/wiring/cleanup-stack.js'
import { openMetrics } from '../../../src/cli/wiring/metrics.js'
import { openRuntime } from '../../../src/cli/wiring/runtime.js'
import { consoleFields, serveConsole } from '../../../src/cli/wiring/serve-console.js'

/** The console as a process serves it, in this environment, which names a database and a data directory. The caller closes it. */
export async function openConsole(environment: Record<string, string>, limits?: Partial<UploadLimits>) {
  const runtime = await openRuntime({ OPS_PORT: '0', LOG_LEVEL: 'silent', ...environment }, consoleFields, {
    signal: new AbortController().signal,
  })
  const cleanup = new CleanupStack()
  const close = async () => {
    await cleanup[Symbol.asyncDispose]()
    await runtime[Symbol.asyncDispose]()
  }
  try {
    const base = await serveConsole(runtime, openMetrics(runtime), cleanup, limits)
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
    /** Chooses files on the page of imports and sends them, as a browser does. */
    const sendFiles = async (
      files: readonly (readonly [name: string, content: string | Uint8Array<ArrayBuffer>])[],
      fields: Record<string, string> = {},
      headers: Record<string, string> = {},
    ) => {
      const form = new FormData()
      const [, token = ''] = /name="token" value="(\w+)"/.exec((await ask('/imports', headers)).text) ?? []
      for (const [name, value] of Object.entries({ token, ...fields })) form.append(name, value)
      for (const [name, content] of files) form.append('file', new Blob([content]), name)
      const sent = new Request(`${base}/imports/uploads`, { method: 'POST', body: form })
      const answer = await request(`${base}/imports/uploads`, {
        method: 'POST',
        headers: { origin: base, 'content-type': sent.headers.get('content-type') ?? '', ...headers },
        body: Buffer.from(await sent.arrayBuffer()),
      })
      return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() }
    }
    return { base, ask, confirm, sendFiles, close }
  } catch (error) {
    await close()
    throw error
  }
}

export type Console = Awaited<ReturnType<typeof openConsole>>
