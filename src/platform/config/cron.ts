import { validate } from 'node-cron'

/** The problem of a cron expression of five fields (or six, seconds first); undefined when it is valid. */
export function cronSyntaxProblem(expression: string): string | undefined {
  const fields = expression.trim().split(/\s+/)
  if (fields.length !== 5 && fields.length !== 6) return `it has ${fields.length} fields`
  return validate(expression) ? undefined : 'a field is out of range or unreadable'
}
