import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { committedDescription, currentDescription, descriptionFile, filesOf } from './api-description.js'
import { brunoCollection, brunoFolder } from './bruno-collection.js'
import { incompatibleChanges } from './incompatible-changes.js'

// `npm run api:describe`: writes what follows from the definitions at the routes, unless clients would break.
const description = await currentDescription()
const breaking = existsSync(descriptionFile) ? incompatibleChanges(committedDescription(), description) : []
if (breaking.length > 0) {
  console.error(`${descriptionFile} is not written, since clients would break (docs/contract/wire.md 11.2):`)
  for (const change of breaking) console.error(`- ${change}`)
  process.exitCode = 1
} else {
  // Requests of operations that are gone.
  await rm(path.resolve(brunoFolder), { recursive: true, force: true })
  for (const [file, text] of Object.entries({ ...filesOf(description), ...brunoCollection(description) })) {
    await mkdir(path.dirname(path.resolve(file)), { recursive: true })
    await writeFile(path.resolve(file), text)
    if (!file.startsWith(brunoFolder)) console.log(file)
  }
  console.log(brunoFolder)
}
