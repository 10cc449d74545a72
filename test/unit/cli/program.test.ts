import { expect, it } from 'vitest'
import { registrationsFor } from '../../../src/cli/registrations.js'
import { runCommandLine } from '../../support/command-line.js'
import { readFirstTable, readProjectFile } from '../../support/markdown-table.js'

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

it('has every command in the table of the README, with exit code 1 where its help has it', async () => {
  const [, section = ''] = readProjectFile('README.md').split('\n## Commands\n')
  const rows = readFirstTable(section).map(([commands = '', , codes = '']) => {
    const names = [...commands.replaceAll('`', '').matchAll(/(?:^|, )([a-z-]+)/g)].map(([, name = '']) => name)
    return { names: [...new Set(names)], codes }
  })
  for (const { names, codes } of rows) {
    const help = (await Promise.all(names.map((name) => helpOf([name])))).flat().join('\n')
    expect({ names, one: /\b1\b/.test(codes) }).toEqual({ names, one: /exit\s+code\s+1/.test(help) })
    expect(codes, names.join()).toMatch(/^0\b.*\b2\b/)
  }
  const [help = ''] = await helpOf([])
  const [, list = ''] = help.split('\nCommands:\n')
  const all = [...list.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => name)
  expect(rows.flatMap(({ names }) => names).sort()).toEqual(all.filter((name) => name !== 'help').sort())
})

it('loads one file for a command, and all of them for the help', async () => {
  const [help = ''] = await helpOf([])
  const [, list = ''] = help.split('\nCommands:\n')
  const names = [...list.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name = '']) => name).filter((name) => name !== 'help')
  expect(names.length).toBeGreaterThan(25)
  for (const name of [...names.filter((name) => name !== 'completion'), 'ledger'])
    expect([name, (await registrationsFor(name)).length]).toEqual([name, 1])
  expect((await registrationsFor('--help')).length).toBeGreaterThan(25)
})

it.each(['nonsense', 'users create', 'donations show x', 'validate'])(
  'refuses `giving %s` with exit code 2 and its help',
  async (line) => {
    const { code, stdout, stderr } = await runCommandLine(line.split(' '), {})
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
