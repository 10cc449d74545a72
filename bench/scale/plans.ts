import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { Store } from '../../src/platform/database/store.js'

/** How each statement was executed: its text, and what its plan reads and joins in which way, the most frequent plan. */
export type Plans = ReadonlyMap<string, string>

/**
 * Makes the server log the plan of every statement of connections that are opened to this database from now on; the
 * returned function reads what was logged since. Formatting a plan costs each statement the same at every size.
 */
export async function watchPlans({ db }: Store): Promise<() => Promise<Plans>> {
  const { rows } = await db.query<{ name: string; folder: string }>(
    `select current_database() as name, current_setting('data_directory') as folder`,
  )
  const [{ name = '', folder = '' } = {}] = rows
  const settings = {
    session_preload_libraries: 'auto_explain',
    'auto_explain.log_min_duration': '0',
    // The texts that are stored are parameters, and a statement is the same whatever its parameters are.
    'auto_explain.log_parameter_max_length': '0',
  }
  for (const [setting, value] of Object.entries(settings)) {
    await db.query(`alter database ${name} set ${setting} = '${value}'`)
  }
  const file = path.join(folder, 'server.log')
  const { size } = await stat(file)
  return () => readPlans(file, size)
}

/** What in the lines of a plan says how it reads and joins; costs and rows are no part of it. */
const step =
  /^\t *(?:-> {2})?((?:\w+ )*?(?:Seq Scan|Index Scan|Index Only Scan|Bitmap Heap Scan|Nested Loop|Hash Join|Merge Join)[^(]*)/

async function readPlans(file: string, start: number): Promise<Plans> {
  const counts = new Map<string, Map<string, number>>()
  let statement: string | undefined
  let steps: string[] | undefined
  const close = () => {
    if (statement !== undefined) {
      const text = statement.replace(/\s+/g, ' ').trim()
      const plans = counts.get(text) ?? new Map<string, number>()
      const plan = steps?.sort().join(', ') ?? ''
      counts.set(text, plans.set(plan, (plans.get(plan) ?? 0) + 1))
    }
    statement = undefined
    steps = undefined
  }
  for await (const line of createInterface({ input: createReadStream(file, { start }) })) {
    if (!line.startsWith('\t')) close()
    else if (line.startsWith('\tQuery Text: ')) statement = line.slice('\tQuery Text: '.length)
    else if (statement !== undefined) {
      // The plan begins with its first line that has costs.
      if (steps === undefined && line.includes('(cost=')) steps = []
      if (steps === undefined) statement += ` ${line}`
      else {
        const found = step.exec(line)?.[1]?.trim()
        if (found) steps.push(found)
      }
    }
  }
  close()
  const mostFrequent = (plans: ReadonlyMap<string, number>) =>
    [...plans].reduce((best, one) => (one[1] > best[1] ? one : best), ['', 0] as [string, number])[0]
  return new Map([...counts].map(([text, plans]) => [text, mostFrequent(plans)]))
}

/** The statements whose plan is another at another size: what only the first reads or joins so, and what only the second. */
export function changedPlans(small: Plans, large: Plans): readonly (readonly [string, string, string])[] {
  return [...small].flatMap(([text, before]) => {
    const after = large.get(text)
    if (after === undefined || after === before) return []
    const [one, other] = [before.split(', '), after.split(', ')]
    const only = (own: string[], others: string[]) => shortened(own.filter((step) => !others.includes(step)).join(', '))
    const [lost, gained] = [only(one, other), only(other, one)]
    return lost === gained ? [] : [[shortened(text), lost, gained] as const]
  })
}

function shortened(text: string): string {
  return text.length > 90 ? `${text.slice(0, 87)}...` : text || '-'
}
