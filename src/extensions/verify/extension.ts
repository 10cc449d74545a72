import type { Extension } from '../../cli/extension.js'

/** `giving verify`: a published set is checked from outside, as a consumer would. */
export const verify = {
  name: 'verify',
  commands: [['verify'], async () => (await import('./command.js')).registerVerify],
} as const satisfies Extension
