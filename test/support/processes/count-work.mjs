// `node --import count-work.mjs`: writes into WORK_COUNTS, when the process ends, how often blocks of our sources ran and
// how many bytes were allocated. Both follow from the work alone, on whatever machine it is done.
import { writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import path from 'node:path'
import { threadId } from 'node:worker_threads'

const folder = process.env.WORK_COUNTS
if (folder) {
  const session = new Session()
  session.connect()
  /** Sessions of the own thread answer before `post` returns. */
  const ask = (method, parameters) => {
    let answer
    session.post(method, parameters, (error, result) => {
      if (error) throw new Error(`${method}: ${error.message}`)
      answer = result
    })
    return answer
  }
  ask('Profiler.enable')
  ask('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  ask('HeapProfiler.enable')
  const ofAll = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true }
  ask('HeapProfiler.startSampling', { samplingInterval: 16_384, ...ofAll })
  process.on('exit', () => {
    const steps = ask('Profiler.takePreciseCoverage').result.flatMap(({ url, functions }) =>
      /\/(src|jobs)\//.test(url) ? functions.flatMap(({ ranges }) => ranges.map(({ count }) => count)) : [],
    )
    let bytes = 0
    const add = ({ selfSize, children }) => {
      bytes += selfSize
      for (const child of children) add(child)
    }
    add(ask('HeapProfiler.stopSampling').profile.head)
    const counts = { steps: steps.reduce((sum, count) => sum + count, 0), bytes }
    writeFileSync(path.join(folder, `${process.pid}-${threadId}.json`), JSON.stringify(counts))
  })
}
