import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { ServingDeps } from '../../cli/extension.js'
import { CleanupStack } from '../../cli/wiring/cleanup-stack.js'
import { listeningUrl, toListenError } from '../../cli/wiring/listening.js'
import { closeApi } from '../../http/api/close-api.js'
import { isErrno } from '../../kernel/system-errors.js'
import { openConsoleDeps } from './console-deps.js'
import { createConsole } from './create-console.js'
import { type UploadLimits, uploadLimits } from './uploads.js'

const defaultPort = 8081

/**
 * Serves the console for operators and returns its address; without OPS_PORT a taken port is replaced by a free one. Throws
 * `configuration-invalid` when OPS_PORT is taken.
 */
export async function serveConsole(given: ServingDeps, limits: Partial<UploadLimits> = {}): Promise<string> {
  const { config, signal, defer } = given.runtime
  const opened = new CleanupStack()
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= opened[Symbol.asyncDispose]()
    return closing
  }
  defer(close)
  // It closes while a worker of this process still finishes its jobs, so that both end in time.
  signal.addEventListener('abort', () => void close().catch(() => undefined), { once: true })
  const deps = await openConsoleDeps(given, { ...uploadLimits, ...limits }, opened)
  const app = await createConsole(deps)
  opened.defer(() => closeApi(app, { drained: Promise.resolve(), graceMs: 1_000 }))
  await listen(app, config.ops.host, config.ops.port)
  return listeningUrl({ host: config.ops.host, tls: deps.tls }, (app.server.address() as AddressInfo).port)
}

async function listen(app: FastifyInstance, host: string, port: number | undefined): Promise<void> {
  const listenOn = (chosen: number) =>
    app.listen({ host, port: chosen, listenTextResolver: (address) => `the console is at ${address}` })
  try {
    await listenOn(port ?? defaultPort)
  } catch (error) {
    const isTaken = isErrno(error, 'EADDRINUSE')
    if (port !== undefined || !isTaken) throw toListenError(error, host, port ?? defaultPort, 'OPS_PORT or OPS_HOST')
    await listenOn(0)
  }
}
