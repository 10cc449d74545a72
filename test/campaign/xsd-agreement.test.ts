import { afterAll } from 'vitest'
import { createXsdValidator } from '../../src/iati/validation/index.js'
import { officialStandard } from '../support/borrowed-files.js'
import { testSchemaAgreement } from '../support/schema-agreement.js'

const official = officialStandard('the campaign that compares structure checks with the official XSD')
const xsd = official ? await createXsdValidator(official) : undefined
afterAll(() => xsd?.dispose())

// 28,800 records.
testSchemaAgreement(xsd, { sound: 2400, perMutation: 1000 })
