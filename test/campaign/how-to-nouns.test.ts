import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { projectRoot } from '../support/documents/how-to.js'

/*
 * docs/how-to/column.md adds a column of a project. Of the other nouns a column is a line of their table and a migration as well.
 */
const copy = mkdtempSync(path.join(tmpdir(), 'giving-nouns-'))
afterAll(() => rmSync(copy, { recursive: true }))

const tables = {
  organisation: ['organisation', '  bridgeId: {'],
  photo: ['photo', '  takenOn: {'],
  progress_report: ['report', '  authorName: {'],
  payout_plan: ['money', "  currency,\n  reference: {\n    kind: 'reference',"],
} as const

function run(program: string, ...args: string[]): void {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: copy, encoding: 'utf8' })
  expect(status, `${program} ${args.join(' ')}:\n${stdout}${stderr}`).toBe(0)
}

it('a column of each noun is a line of its table and a migration', () => {
  const parts = ['src', 'jobs', 'test', 'docs', 'package.json', 'tsconfig.json', 'openapi.json']
  for (const name of parts) cpSync(path.join(projectRoot, name), path.join(copy, name), { recursive: true })
  symlinkSync(path.join(projectRoot, 'node_modules'), path.join(copy, 'node_modules'))
  const migration = Object.keys(tables).map((table) => `alter table ${table} add column added text;\n`)
  writeFileSync(
    path.join(copy, 'src/platform/database/migrations/9999-added.sql'),
    `-- compatible\n${migration.join('')}`,
  )
  for (const [noun, before] of Object.values(tables)) {
    const file = path.join(copy, `src/kernel/nouns/${noun}.ts`)
    const text = readFileSync(file, 'utf8')
    expect(text.split(before).length, noun).toBe(2)
    writeFileSync(file, text.replace(before, `  added: { kind: 'text?', means: 'Added.' },\n${before}`))
  }
  run('npm', 'run', 'api:describe')
  run(path.join(copy, 'node_modules/.bin/vitest'), 'run', '--config', 'test/how-to/vitest.config.ts', 'nouns.proof')
})
