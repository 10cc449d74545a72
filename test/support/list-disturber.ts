import { openStore } from '../../src/platform/database/store.js'
import { insertProjects } from './catalogue.js'

// A writer in a process of its own, until its parent goes or says so: puts projects between those of a list, and ends and
// revives those whose id ends in 5.
const { url, from, projects }: { url: string; from: number; projects: number } = JSON.parse(process.argv[2] ?? '{}')
const store = openStore({ url, max: 1, applicationName: 'test list disturber' })
let ended = false
process.once('disconnect', () => process.exit(1))
process.once('message', () => {
  ended = true
})
let inserted = 0
let turned = 0
for (let n = 0; !ended; n++) {
  const place = from + ((n * 7) % projects) * 10
  if (n < 4 * projects) {
    await insertProjects(store.db, [{ id: place + 1 + Math.floor(n / projects) }])
    inserted++
  }
  const { rowCount } = await store.db.query('update project set active = not active where id = $1', [place + 5])
  turned += rowCount
  if (n === 0) process.send?.('writing')
}
await store.close()
process.send?.({ inserted, turned })
process.disconnect()
