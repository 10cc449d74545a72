import { openStore } from '../../../src/platform/database/store.js'
import { importAndUndo } from '../../support/catalogue/import-undo.js'

// Imports and takes back without end, to be killed: `imports-process.ts DATABASE_URL FOLDER SEED`.
const [url = '', folder = '', seed] = process.argv.slice(2)
const store = openStore({ url, max: 2, applicationName: 'endless imports' })
process.send?.('ready')
await importAndUndo(store, folder, Number(seed), Number.POSITIVE_INFINITY)
