import { afterAll, describe, it } from 'vitest'
import { hostileWriter } from '../support/store/hostile-rows.js'

describe('2 MB, written by the role into', async () => {
  const { platform, expectHarmless } = await hostileWriter()
  afterAll(() => platform.end())

  it('every text is refused with a clear message, or concerns this project at most', () =>
    expectHarmless('x'.repeat(2_000_000)))
})
