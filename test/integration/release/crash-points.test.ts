import { describeCrashPoints } from '../../campaign/support/crash-points.js'

// The campaign has all steps on both engines.
describeCrashPoints(
  'queue on PostgreSQL',
  async (url) => ({ connection: { kind: 'postgres', url }, stop: async () => undefined }),
  ['rendered', 'switched'],
)
