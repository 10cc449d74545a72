import { expect, it } from 'vitest'
import { registrationsFor } from '../../../src/cli/registrations.js'
import { runCommandLine } from '../../support/commands/command-line.js'
import { cliDocument } from '../../support/documents/cli-document.js'
import { readProjectFile } from '../../support/documents/markdown-table.js'

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

it('has docs/cli.md as the program is', async () => {
  expect(readProjectFile('docs/cli.md'), 'run npm run docs:cli').toBe(await cliDocument())
})

it('has every command and option of the help in docs/cli.md, with exit code 1 where the help has it', async () => {
  const sections = readProjectFile('docs/cli.md').split(/^#{2,4} (?=giving )/m)
  const [, ...helps] = await helpOf([])
  expect(helps.length).toBe(sections.length - 1)
  for (const help of helps) {
    const [, command = ''] = /^Usage: ([a-z -]+[a-z])/.exec(help) ?? []
    const section = sections.find((one) => one.startsWith(`${command}\n`)) ?? ''
    const [, listed = ''] = help.split('\nOptions:\n')
    const options = [...listed.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, option = '']) => option)
    const shown = options.filter((option) => section.includes(option))
    expect([command, shown]).toEqual([command, options.filter((option) => option !== '--help')])
    const [mine = ''] = help.split('\nCommands:\n')
    const hasOne = /Exit codes: 0, 1\b/.test(section)
    expect({ command, hasOne }).toEqual({ command, hasOne: /exit\s+code\s+1/.test(mine) })
  }
})

it('loads one file for a command, and all of them for the help', async () => {
  const [help = ''] = await helpOf([])
  const [, list = ''] = help.split('\nCommands:\n')
  const names = [...list.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name = '']) => name).filter((name) => name !== 'help')
  expect(names.length).toBeGreaterThan(25)
  for (const name of names.filter((name) => name !== 'completion'))
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
