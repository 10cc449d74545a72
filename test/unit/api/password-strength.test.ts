import { expect, it } from 'vitest'
import { passwordProblem } from '../../../src/api/password-strength.js'

const email = 'somebody.else@example.org'

it.each([
  'correcthorsebatterystaple',
  'Correct-Horse-Battery-Staple',
  'correct.horse.battery.staple',
  'sunshine2024!!',
  'Sunshine2024!!',
  'winter2025!!',
  'iloveyou2024!!',
  'qwertyuiop123',
  'password123456',
  'aaaaaaaaaaaaaaaa',
  'somebody.else1',
  'maytheforcebewithyou',
])('%s is easy to guess', async (password) => {
  expect(await passwordProblem(password, email)).toContain('not easy to guess')
})

it.each(['seven quiet rivers', 'seven grey herons wade', 'p<ss&word "12"', 'x8Kq2mZr9LpW', 'sieben stille Flüsse'])(
  '%s is not',
  async (password) => {
    expect(await passwordProblem(password, email)).toBeUndefined()
  },
)

it('a password of 64 characters and more is taken', async () => {
  for (const length of [64, 200]) {
    expect(await passwordProblem('seven quiet rivers run '.repeat(9).slice(0, length), email)).toBeUndefined()
  }
})
