import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'

// Asks an API as people who are patient do, in a thread of its own: what the busy clients of a test take of their event loop
// is no time that these wait. Answers statuses, milliseconds, and how long the event loop of the API worked meanwhile, which
// other load of the machine does not lengthen.
const { port, pid, asked, network, times, together } = workerData

const loopMs = () => Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6

async function ask(localAddress, path) {
  const began = performance.now()
  const before = loopMs()
  const one = request({ port, host: '127.0.0.1', localAddress, path, agent: false, headers: { range: 'bytes=0-9999' } })
  one.end()
  const [response] = await once(one, 'response')
  response.resume()
  await once(response, 'close')
  return { status: response.statusCode, ms: performance.now() - began, worked: loopMs() - before }
}

const answers = await Promise.all(
  Array.from({ length: together }, async (_, other) => {
    const own = []
    for (let time = 0; time < times / together; time++) {
      const path = asked[(time + other) % asked.length]
      own.push(await ask(`127.2.${network}.${1 + other}`, path).catch(() => ({ status: 0, ms: 0, worked: 0 })))
    }
    return own
  }),
)
parentPort.postMessage(answers.flat())
