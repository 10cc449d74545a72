// `CAMPAIGN_SCALE=0.2 npm run test:campaign` repeats everything a fifth as often, at least once: the short form for a
// machine that has no half an hour. What each case asserts stays the same.
const factor = Number(process.env.CAMPAIGN_SCALE || 1)
if (!(factor > 0)) throw new Error(`CAMPAIGN_SCALE must be a number above 0, got "${process.env.CAMPAIGN_SCALE}"`)

/** The number scaled by `CAMPAIGN_SCALE`, rounded, and at least 1. */
export function scaled(full: number): number {
  return Math.max(1, Math.round(full * factor))
}

/** The numbers of the campaign, in one place: how often each case is tried, for each engine where it has one. */
export const scale = {
  /** A case that repeats itself stops after so long, having tried less: a slow machine takes no longer, and says so. */
  patienceMs: 480_000,
  /** Kill -9 at random moments. */
  kills: scaled(50),
  /** The same with the default lock of 10 s, where each takeover takes that long. */
  killsWithDefaults: scaled(2),
  /** Kill -9 of one of the two processes of a worker. */
  processKills: scaled(10),
  /** A delivery to a bucket killed before each of its writes, of which it has about a hundred. */
  bucketKills: scaled(1_000),
  /** A machine killed in each publication, where machines share no folder. */
  noSharedFolder: Math.max(6, scaled(40)),
  /** Minutes in which machines of a network of their own are killed, one every few seconds. */
  machineMinutes: scaled(20),
  /** Seconds of starting, stopping and killing workers under a schedule; once with two of them, once with four. */
  scheduleSeconds: Math.max(10, scaled(30)),
  /** Five processes starting at the same moment. */
  simultaneousStarts: scaled(50),
  /** The same with cold processes on an empty database. */
  coldStarts: scaled(2),
  /** Everything down at a due instant. */
  missedInstants: scaled(3),
  /** The schedule changed and the workers restarted one after the other. */
  scheduleChanges: scaled(4),
  /** The scheduler deleted behind the workers' backs, in each way that it can be. */
  lostSchedulers: scaled(2),
  /** Publications at instants of a clock that jumps, also backwards. */
  clockSteps: scaled(120),
  /** Connections cut, sessions ended, servers restarted: faults of each kind. */
  faults: scaled(6),
  /** Of the calls of a publication, a donation and so on that fail in turn. */
  callsThatFail: Math.min(1, factor),
  /** SIGTERM under load. */
  shutdowns: scaled(20),
  /** API processes replaced one after the other behind a proxy, under load. */
  rollingRestarts: scaled(100),
  /** Releases published while readers follow. */
  releases: scaled(20),
  plainReaders: 50,
  /** Activities that a mapping bug makes invalid, with some 50 notices each: a million. */
  invalidActivities: scaled(20_000),
  /** Mistakes of an operator on an ordinary day. */
  mistakes: scaled(200),
  /** Minutes of everything in one process. */
  soakMinutes: scaled(30),
  /** Projects that are exported and imported, in bounded memory. */
  exportedProjects: scaled(100_000),
} as const
