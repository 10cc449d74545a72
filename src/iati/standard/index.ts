export type { SimpleType } from './facts.js'
export {
  type CodeRule,
  codeList,
  codeListNames,
  codeName,
  type ElementRule,
  elementRule,
  hasActiveAgency,
  isActiveCode,
  type Slot,
  standardOrigin,
  translatedCodeName,
} from './standard.js'
export { standardVersion } from './version.js'
