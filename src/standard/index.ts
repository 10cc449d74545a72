export type { SimpleType } from './facts.js'
export {
  type CodeList,
  type CodeRule,
  codeList,
  codeName,
  type ElementRule,
  elementRule,
  isActiveCode,
  type Slot,
  standardOrigin,
  standardVersion,
} from './standard.js'
