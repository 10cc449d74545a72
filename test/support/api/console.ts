import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import { openMetrics } from '../../../src/cli/wiring/metrics.js'
import { openRuntime } from '../../../src/cli/wiring/runtime.js'
import { serverFields, servingDeps } from '../../../src/cli/wiring/servers.js'
import { serveConsole } from '../../../src/extensions/console/serve-console.js'
import type { UploadLimits } from '../../../src/extensions/console/uploads.js'

/** The console as a process serves it, in this environment, which names a database and a data directory. The caller closes it. */
export async function openConsole(environment: Record<string, string>, limits?: Partial<UploadLimits>) {
  const runtime = await openRuntime({ OPS_PORT: '0', LOG_LEVEL: 'silent', ...environment }, serverFields, {
    signal: new AbortController().signal,
  })
  const close = async () => await runtime[Symbol.asyncDispose]()
  try {
    const base = await serveConsole(servingDeps(runtime, openMetrics(runtime)), limits)
    return { ...consoleAt(base), close }
  } catch (error) {
    await close()
    throw error
  }
}

/** What a browser does at a console. */
export function consoleAt(base: string) {
  const askOnce = async (address: string, headers: Record<string, string>, body?: string) => {
    const answer = await request(base + address, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...(body !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }), ...headers },
      ...(body !== undefined && { body }),
    })
    return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() }
  }
  const isUpload = (address: unknown) => String(address).startsWith('/imports/uploads/')
  const isWork = (address: unknown) => isUpload(address) || address === '/facts'
  /** Asks as a browser does: a page of work that goes on is asked for again until that has ended. */
  const ask = async (address: string, headers: Record<string, string> = {}, body?: string) => {
    let answer = await askOnce(address, headers, body)
    while (body === undefined && isWork(address) && answer.headers.refresh !== undefined) {
      await sleep(100)
      answer = await askOnce(address, headers)
    }
    return answer
  }
  /** Fills the form at an address in, and sends it as a browser does; the answer leads to where the work on a file ends. */
  const confirm = async (address: string, fields: Record<string, string>, headers: Record<string, string> = {}) => {
    const [, token = ''] = /name="token" value="(\w+)"/.exec((await ask(address, headers)).text) ?? []
    const body = new URLSearchParams({ token, ...fields }).toString()
    const answer = await ask(address, { origin: base, ...headers }, body)
    const { location } = answer.headers
    if (!isUpload(location)) return answer
    const ended = await ask(String(location), headers)
    return ended.status === 303 ? ended : answer
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
  return { base, ask, confirm, sendFiles }
}

export type Console = Awaited<ReturnType<typeof openConsole>>
