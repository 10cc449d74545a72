import { writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { afterAll, afterEach, expect, inject } from 'vitest'
import { projectRoot } from '../documents/how-to.js'
import { beforeDrop } from '../store/database.js'
import type { Touched } from './touched-map.js'

// A set-up file of the run that draws the map. Counts begin at zero with each taking.
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

const began = performance.now()
const schema = new Set<string>()
beforeDrop.work = async (name) => {
  const url = Object.assign(new URL(inject('administratorUrl')), { pathname: `/${name}` })
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  // A session counts what it has done when it ends.
  const others = `select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`
  while ((await client.query(others)).rowCount) await sleep(10)
  const { rows } = await client.query<{ name: string }>(
    `select funcname as name from pg_stat_user_functions
      union all select relname from pg_stat_user_tables where n_tup_ins + n_tup_upd + n_tup_del > 0`,
  )
  for (const row of rows) schema.add(row.name)
  await client.end()
}

let failed = false
afterEach(({ task }) => {
  failed ||= task.result?.state === 'fail'
})

// The first of the set-up files, so this is the last hook: databases are dropped then.
afterAll(async () => {
  const { result } = await session.post('Profiler.takePreciseCoverage')
  session.disconnect()
  const functions: Record<string, string[]> = {}
  for (const script of result) {
    const file = path.relative(projectRoot, script.url.startsWith('file:') ? fileURLToPath(script.url) : script.url)
    if (!/^(src|jobs)\//.test(file)) continue
    const called = script.functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0).map((one) => one.functionName)
    const names = called.filter((name) => name !== '')
    // The module itself is a function without a name that is called once; one more means that a callback was.
    if (names.length > 0 || called.length > 1) functions[file] = [...new Set([...(functions[file] ?? []), ...names])]
  }
  const file = path.relative(projectRoot, expect.getState().testPath ?? '')
  const touched: Touched = {
    testFile: file,
    seconds: (performance.now() - began) / 1000,
    failed,
    functions,
    schema: [...schema],
  }
  schema.clear()
  writeFileSync(path.join(process.env.TOUCHED_DIR ?? '', `${file.replaceAll('/', '+')}.json`), JSON.stringify(touched))
})
