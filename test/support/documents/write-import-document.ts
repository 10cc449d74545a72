import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { importDocument } from './import-document.js'

// `npm run docs:import`: writes docs/reference/import.md from the table of kinds.
await writeFile(path.resolve('docs/reference/import.md'), importDocument())
