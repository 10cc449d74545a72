import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { record } from './support/record.js'
import { scale } from './support/scale.js'

const root = path.resolve(import.meta.dirname, '../..')

test('giving start does the work of a day within 400 MB', { timeout: 3_600_000 }, () => {
  const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
  const [, ...script] = scripts['test:soak'].split(' ')
  const hours = String(scale.soakMinutes / 60)
  const { status, stdout, stderr } = spawnSync(process.execPath, [...script, '--together', '--hours', hours], {
    cwd: root,
    encoding: 'utf8',
  })
  console.log(stdout)
  expect(status, stdout + stderr).toBe(0)
  const seen = JSON.parse(/minutes: (.*)/.exec(stdout)?.[1] ?? '{}')
  record({
    name: `giving start: ${seen.publications} publications, ${seen.imports} imports, ${seen.syncs} syncs, ${seen.donations} donations, ${seen.reads} reads`,
    engine: 'PostgreSQL',
    tried: seen.publications,
    outcome: /resident MB.*/.exec(stdout)?.[0] ?? '',
  })
})
