import { describe, it } from 'vitest'
import { redisMissing } from '../support/servers/redis.js'
import { testDatabase } from '../support/store/database.js'
import { failEachCall } from './support/call-faults/fail-each-call.js'
import { trialNames } from './support/call-faults/trials.js'
import { record } from './support/record.js'
import { scale } from './support/scale.js'

const seed = Number(process.env.FAULT_SEED ?? 20261122)

describe.concurrent.each(trialNames)('%s whose calls fail, one after the other', async (name) => {
  const database = await testDatabase()
  const missing = name.includes('Redis') ? redisMissing() : undefined

  it('leaves everything whole, and succeeds the next time', { timeout: 3_600_000 }, async ({ expect, skip }) => {
    if (missing) return skip(missing)
    console.log(`${name}: FAULT_SEED=${seed}`)
    const { calls, tried, problems } = await failEachCall(name, database, { share: scale.callsThatFail, seed })
    const { error, kill, clock } = tried
    record({
      name: `${name}: a call outside fails, or kills the process, or sees a clock that is three days wrong`,
      engine: name.includes('Redis') ? 'Redis' : 'PostgreSQL',
      tried: error + kill + clock,
      outcome: `${calls} calls; ${error} failed, ${kill} killed, ${clock} clocks; ${problems.length} problems`,
    })
    expect(problems).toEqual([])
  })
})
