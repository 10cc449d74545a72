export { type RecordKind, validateActivity, validateOrganisation } from './record.js'
export type { RecordContext } from './view.js'
