import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'

/** Requests that go on until they are stopped. */
export type Load = {
  /** Stops asking; resolves to what was wrong with answers that had begun. */
  stop(): Promise<{ readonly answers: number; readonly faults: readonly string[] }>
}

/**
 * Keeps `connections` busy with requests. An address that does not answer is no fault: the process may be stopping. An
 * answer that began and broke off is.
 */
export function startLoad(baseUrl: string, paths: readonly string[], connections: number): Load {
  const agent = new Agent({ connections, pipelining: 1 })
  const faults: string[] = []
  let answers = 0
  let ended = false
  const ask = async (at: number) => {
    for (let next = at; !ended; next++) {
      const path = paths[next % paths.length] ?? ''
      const answer = await request(baseUrl + path, { dispatcher: agent }).catch(() => undefined)
      if (!answer) {
        await sleep(20)
        continue
      }
      try {
        await answer.body.arrayBuffer()
        answers++
        if (answer.statusCode >= 500 && answer.statusCode !== 503) faults.push(`${path}: ${answer.statusCode}`)
      } catch (error) {
        faults.push(`${path} broke off: ${error instanceof Error ? error.message : error}`)
      }
    }
  }
  const asking = Array.from({ length: connections }, (_, index) => ask(index))
  return {
    stop: async () => {
      ended = true
      await Promise.all(asking)
      await agent.close()
      return { answers, faults }
    },
  }
}
