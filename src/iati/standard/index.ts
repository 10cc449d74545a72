export type { SimpleType } from './facts.js'
export {
  type CodeRule,
  codeList,
  codeListNames,
  codeName,
  type ElementRule,
  elementRule,
  frenchCodeName,
  hasActiveAgency,
  isActiveCode,
  type Slot,
  standardOrigin,
} from './standard.js'
export { standardVersion } from './version.js'
