import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { jsonDocument } from '../../../src/http/api/contract/json-document.js'
import { currentDescription } from './api-description.js'

// `npm run api:lint`: both descriptions of the API have no finding by the strictest rules of two linters.
// They are no packages of this project: together they bring 205 and 83 MB.
const linters = [
  ['@redocly/cli@2.77.0', 'lint', '--extends', 'recommended-strict', '--format', 'stylish'],
  ['@stoplight/spectral-cli@6.16.3', 'lint', '--ruleset', 'ruleset.yaml', '--fail-severity', 'hint'],
]

const folder = await mkdtemp(path.join(tmpdir(), 'giving-lint-'))
try {
  const description = await currentDescription()
  const files = { 'openapi.json': description, 'openapi-json.json': jsonDocument(description as never) }
  for (const [name, content] of Object.entries(files)) await writeFile(path.join(folder, name), JSON.stringify(content))
  await writeFile(path.join(folder, 'ruleset.yaml'), 'extends: spectral:oas\n')
  for (const linter of linters) {
    const args = ['--yes', ...linter, ...Object.keys(files)]
    const [code] = (await once(spawn('npx', args, { cwd: folder, stdio: 'inherit' }), 'close')) as [number | null]
    if (code !== 0) process.exitCode = code ?? 1
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}
