import { tellHub } from '../../outbound/tell-hub.js'
import { type baseUrlFields, resolveBaseUrl } from './base-url.js'
import type { Runtime } from './runtime.js'

/** How the WebSub hub is told what changed; undefined when none is configured. */
export function openHub(
  runtime: Runtime<'websubHub' | (typeof baseUrlFields)[number]>,
): ((signal: AbortSignal) => Promise<string>) | undefined {
  const { store, feedsDir, clock } = runtime
  const hub = runtime.config.websubHub
  if (hub === undefined) return undefined
  return async (signal) =>
    await tellHub({ store, feedsDir, clock, hub, baseUrl: await resolveBaseUrl(runtime) }, signal)
}
