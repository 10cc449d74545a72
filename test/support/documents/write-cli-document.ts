import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { cliDocument } from './cli-document.js'

// `npm run docs:cli`: writes docs/cli.md from the commands of the program.
await writeFile(path.resolve('docs/cli.md'), await cliDocument())
