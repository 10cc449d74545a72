import { readFileSync } from 'node:fs'
import { notesOf } from './release-section.js'

// The workflow of a release writes them to the page of the release.
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
process.stdout.write(notesOf(readFileSync('CHANGELOG.md', 'utf8'), version))
