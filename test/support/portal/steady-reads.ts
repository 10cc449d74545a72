import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** What is read: a service with so many projects, so many requests a second however long each takes. */
export type SteadyReads = { readonly baseUrl: string; readonly projects: number; readonly perSecond: number }

const searches = ['water', 'school', 'women', 'clean', 'health']

/**
 * Reads pages, files and searches until `until` is settled; returns the milliseconds that the answers took, in ascending order.
 * Throws when one is not answered 200.
 */
export async function readSteadily(
  { baseUrl, projects, perSecond }: SteadyReads,
  until: Promise<unknown>,
): Promise<number[]> {
  let isOver = false
  const ended = until.finally(() => {
    isOver = true
  })
  const addresses = (turn: number) => [
    '/',
    `/projects?q=${searches[turn % searches.length]}`,
    `/projects/${1 + ((turn * 37) % projects)}`,
    '/feeds/manifest.json',
    `/projects?page=${1 + (turn % 20)}&sort=received`,
    '/iati/organisations.xml',
  ]
  const took: number[] = []
  const wrong: string[] = []
  const reads: Promise<void>[] = []
  for (let turn = 0; !isOver; turn++) {
    const address = addresses(turn)[turn % 6] ?? '/'
    const began = performance.now()
    reads.push(
      statusOf(baseUrl + address).then(
        (status) => {
          took.push(performance.now() - began)
          if (status !== 200) wrong.push(`${address}: ${status}`)
        },
        (error) => void wrong.push(`${address}: ${error}`),
      ),
    )
    await sleep(1_000 / perSecond)
  }
  await Promise.all(reads)
  await ended
  if (wrong.length > 0) throw new Error(`expected answers, got ${wrong.slice(0, 10).join('; ')}`)
  return took.sort((a, b) => a - b)
}

/** Reads an answer over a connection of its own: one that was kept may be closed by the service while a request is sent. */
async function statusOf(url: string): Promise<number | undefined> {
  const [answer] = (await once(get(url, { agent: false }), 'response')) as [IncomingMessage]
  answer.resume()
  await once(answer, 'end')
  return answer.statusCode
}
