import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../support/values/temporary-folder.js'

const root = path.resolve(import.meta.dirname, '../..')

/** What `npm run bench -- ...` runs, as package.json says. */
async function bench(...args: string[]) {
  const { scripts } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'))
  const [program, ...options] = scripts.bench.split(' ')
  expect(program).toBe('node')
  const { status, stdout, stderr } = spawnSync(process.execPath, [...options, ...args], { cwd: root, encoding: 'utf8' })
  return { status, stdout, stderr }
}

describe('npm run bench', () => {
  let folder: string
  beforeAll(async () => {
    folder = await temporaryFolder()
  })

  it('explains itself', async () => {
    const { status, stdout } = await bench('--help')
    expect(status).toBe(0)
    for (const name of ['processes', 'assemble', 'changes', 'peer', 'validate', 'downloads', 'scale', 'api']) {
      expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'))
    }
  })

  it('refuses a command line that it does not understand with exit code 2', async () => {
    const { status, stderr } = await bench('everything')
    expect(status).toBe(2)
    expect(stderr).toContain('got everything')
  })

  it('measures, tells every bar, and writes JSON and Markdown', { timeout: 300_000 }, async () => {
    const [json, markdown] = [path.join(folder, 'report.json'), path.join(folder, 'report.md')]
    const run = await bench('assemble', '--quick', '--projects', '100', '--json', json, '--markdown', markdown)
    // Whether a bar is held is for the machine to say, not for a test; the exit code must agree with it.
    const report = JSON.parse(await readFile(json, 'utf8'))
    expect(run.status, run.stderr).toBe(report.held ? 0 : 1)
    expect(report.machine).toMatchObject({ cores: expect.any(Number), node: process.version.slice(1) })
    expect(report.benches).toHaveLength(1)
    const [{ name, bars, tables }] = report.benches
    expect(name).toBe('assemble')
    expect(bars.map(({ bar }: { bar: number }) => bar)).toEqual([0.8, 0.6])
    for (const bar of bars) {
      expect(bar.value).toBeGreaterThan(0)
      expect(bar.held).toBe(bar.value >= bar.bar)
      expect(run.stdout).toContain(bar.name)
    }
    expect(tables[0].rows).toHaveLength(5)
    expect(await readFile(markdown, 'utf8')).toContain('### assemble')
  })
})
