import { dictionary } from '@zxcvbn-ts/language-common'
import { expect, it } from 'vitest'
import { passwordProblem } from '../../../src/accounts/password-strength.js'

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
  // Of words that are common here only.
  'userservice2026!',
  'giving.projectservice',
  'IATI-publisher!',
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

it('common and breached passwords are refused', async () => {
  // The list has what was found more than ten times among ten million breached passwords.
  const longEnough = dictionary['passwords-common'].map(String).filter((password) => password.length >= 12)
  expect(longEnough.length).toBeGreaterThan(300)
  for (const password of longEnough.filter((_, index) => index % 6 === 0)) {
    expect(await passwordProblem(password, email), password).toContain('not easy to guess')
  }
})
