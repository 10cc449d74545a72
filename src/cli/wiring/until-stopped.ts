import type { Environment } from '../../platform/config/config.js'
import { reportToSystemd } from '../../platform/observability/supervisor.js'
import type { Runtime } from './runtime.js'

/** Resolves when the process is asked to stop; until then systemd hears that it is alive. */
export async function untilStopped(environment: Environment, { signal, log }: Pick<Runtime, 'signal' | 'log'>) {
  reportToSystemd(environment, signal, log)
  await aborted(signal)
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
