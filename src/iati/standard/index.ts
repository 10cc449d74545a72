export type { SimpleType } from './facts.js'
export {
  type CodeList,
  type CodeRule,
  codeList,
  codeListNames,
  codeName,
  type ElementRule,
  elementRule,
  frenchCodeName,
  frenchLists,
  isActiveCode,
  type Slot,
  standardOrigin,
} from './standard.js'
export { standardVersion } from './version.js'
