import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { committedDescription, currentDescription, descriptionFile, filesOf } from './api-description.js'
import { incompatibleChanges } from './incompatible-changes.js'

// `npm run api:describe`: writes what follows from the definitions at the routes, unless clients would break.
const description = await currentDescription()
const breaking = existsSync(descriptionFile) ? incompatibleChanges(committedDescription(), description) : []
if (breaking.length > 0) {
  console.error(`${descriptionFile} is not written, since clients would break (docs/contract/wire.md 11.2):`)
  for (const change of breaking) console.error(`- ${change}`)
  process.exitCode = 1
} else {
  for (const [file, text] of Object.entries(filesOf(description))) {
    await writeFile(path.resolve(file), text)
    console.log(file)
  }
}
