import { afterAll } from 'vitest'
import { endFile } from './after-file.js'

// A set-up file: its hooks are those of every test file, and the last to run.
afterAll(endFile)
