/** The full numbers of the campaign, in one place. */
export const scale = {
  /** A case that repeats itself stops after so long, having tried less: a slow machine takes no longer, and says so. */
  patienceMs: 300_000,
  /** Kill -9 at random moments, for each engine. */
  kills: 50,
  /** Seconds of starting, stopping and killing workers under a schedule, for each engine. */
  scheduleSeconds: 40,
  /** Five processes starting at the same moment: this often, for each engine. */
  simultaneousStarts: 50,
  /** Connections cut, sessions ended, servers restarted: faults of each kind, for each engine. */
  faults: 6,
  /** SIGTERM under load, for each engine. */
  shutdowns: 20,
  /** Releases published while readers follow. */
  releases: 20,
  plainReaders: 50,
  /** Activities that a mapping bug makes invalid, with 20 notices each. */
  invalidActivities: 50_000,
} as const
