import type { Extension } from '../../cli/extension.js'

/** Pages for people, drawn from the live release. */
export const portal = {
  name: 'portal',
  openPortal: async (...api) => (await import('./portal-routes.js')).openPortal(...api),
} as const satisfies Extension
