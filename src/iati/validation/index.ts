export { validationNotices } from './notice-kinds.js'
export { activityChecks, organisationChecks, validateActivity } from './record.js'
export { readRegisteredOrganisations } from './registered-organisations.js'
export type { RecordShape } from './shapes.js'
export { openThreadedXsd } from './threaded-xsd.js'
export { type FileReport, validateFile } from './validate-file.js'

export { createXsdValidator, type SchemaCheck, type XsdValidator } from './xsd.js'
