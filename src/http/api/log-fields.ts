import type { FastifyRequest } from 'fastify'

/** What is known of a request beside its own line: who made it, and why it was refused. Ids only, never secrets. */
export type LogFields = { readonly account?: number; readonly key?: number; readonly error?: string }

const fields = Symbol('fields of the line in the log')
type Logged = FastifyRequest & { [fields]?: LogFields }

/** Adds fields to the line that the request will have in the log. */
export function addLogFields(request: FastifyRequest, added: LogFields): void {
  const logged: Logged = request
  logged[fields] = { ...logged[fields], ...added }
}

/** The fields that were added so far. */
export function logFieldsOf(request: FastifyRequest): LogFields | undefined {
  return (request as Logged)[fields]
}
