// Descriptors for the database, the queue, log files and everything else that the process opens.
const reserved = 128

/**
 * As many of the `wanted` connections as this process has file descriptors for: each takes one, and another while its
 * answer opens a file. The system's limit is that of `ulimit -n`; where it is not known, all of them.
 */
export function connectionsWithinDescriptors(wanted: number, openFiles = openFilesLimit()): number {
  return Math.min(wanted, Math.max(8, Math.floor((openFiles - reserved) / 2)))
}

function openFilesLimit(): number {
  // Without this the report looks up the names of all network peers; newer than the types of Node 20.
  const report = Object.assign(process.report, { excludeNetwork: true })
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft?: number | string } } }
  const soft = Number(userLimits?.open_files?.soft)
  return Number.isFinite(soft) ? soft : Number.POSITIVE_INFINITY
}
