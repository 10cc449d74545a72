import { readFileSync, writeFileSync } from 'node:fs'
import { withImageVersion, withRelease } from './release-section.js'

// `npm version VERSION` runs it once package.json has the version, before it commits and tags.
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
const day = new Date().toISOString().slice(0, 10)
writeFileSync('CHANGELOG.md', withRelease(readFileSync('CHANGELOG.md', 'utf8'), { version, day }))
const client = 'src/client/package.json'
writeFileSync(client, readFileSync(client, 'utf8').replace(/("version": ")[^"]+/, `$1${version}`))
for (const file of ['Dockerfile', 'deploy/kubernetes/kustomization.yaml']) {
  writeFileSync(file, withImageVersion(readFileSync(file, 'utf8'), version))
}
