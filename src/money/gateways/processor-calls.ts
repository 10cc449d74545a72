import { readFileSync } from 'node:fs'
import { Agent } from 'node:https'
import { GatewayRefusal } from './gateway.js'

/** A server that speaks a processor's protocol in its place, for trials and tests. */
export type ProcessorAddress = {
  readonly host: string
  readonly port: string
  /** Certificates (PEM) of the authorities that it is checked by; undefined: those of Node.js. */
  readonly caFile: string | undefined
}

/** Keeps connections to a processor, so that a donor does not wait for handshakes. */
export function processorAgent(address: ProcessorAddress | undefined): Agent {
  const caFile = address?.caFile
  return new Agent({ keepAlive: true, ...(caFile !== undefined && { ca: readFileSync(caFile) }) })
}

/** An answer of a processor that decides nothing; its message is our own. */
export class UnclearAnswer extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UnclearAnswer'
  }
}

const unreachable = /\b(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)\b|AggregateError/
const causes = /\b(E[A-Z_]{4,}|socket hang up|timed out|aborted)\b/

/**
 * An error of a processor's client library in words of our own: the library's errors repeat requests and answers, with
 * nonces and names. A request that never left this machine is a refusal.
 */
export function callError(processor: string, kind: string, message: string): Error {
  const [, code] = unreachable.exec(message) ?? []
  if (unreachable.test(message)) return new GatewayRefusal(`${processor} cannot be reached: ${code ?? 'no connection'}`)
  const [, cause] = causes.exec(message) ?? []
  return new UnclearAnswer(`${processor} gave no clear answer: ${kind}${cause === undefined ? '' : ` (${cause})`}`)
}
