import { expect, it } from 'vitest'
import { runCommandLine } from '../../support/command-line.js'

/** The help of a command and of all its subcommands, in their order. */
async function helpOf(command: readonly string[]): Promise<string[]> {
  const { code, stdout } = await runCommandLine([...command, '--help'], {})
  expect(code).toBe(0)
  const [, list = ''] = stdout.split('\nCommands:\n')
  const names = [...list.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name = '']) => name).filter((name) => name !== 'help')
  const inner = await Promise.all(names.map((name) => helpOf([...command, name])))
  return [stdout, ...inner.flat()]
}

it('helps with every command', async () => {
  await expect((await helpOf([])).join('\n')).toMatchFileSnapshot('../../golden/help.txt')
})

it.each([['nonsense'], ['users', 'create'], ['donations', 'show', 'x'], ['validate']])(
  'refuses `giving %s %s %s` with exit code 2 and its help',
  async (...args) => {
    const { code, stdout, stderr } = await runCommandLine(args, {})
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(/^error: .*\n\nUsage: giving/)
  },
)

it('tells a wrong configuration in one line and exits with 2', async () => {
  const { code, stderr } = await runCommandLine(['start'], { PORT: 'eighty', LOG_LEVEL: 'loud' })
  expect(code).toBe(2)
  expect(stderr).toMatch(/^giving: .*PORT: expected .* got "eighty"; LOG_LEVEL: expected .* got "loud"\n$/)
})

it('knows `giving books` by its former name', async () => {
  const { stdout } = await runCommandLine(['ledger', 'check', '--help'], {})
  expect(stdout).toMatch(/^Usage: giving books check /)
})
