import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Manifest } from '../../../src/release/read/manifest.js'

/** A client that reads everything published, again and again, and compares it with what the manifests say. */
export type Follower = {
  /** Stops after the round at hand. Tells how many files were read whole, and everything that was wrong. */
  stop(): Promise<{ readonly reads: number; readonly releases: number; readonly faults: readonly string[] }>
}

/** Starts reading at this address of an API process that has a live release. */
export function follow(baseUrl: string): Follower {
  const manifests = new Map<string, Manifest>()
  const faults: string[] = []
  let reads = 0
  let stopping = false

  const get = async (path: string) => {
    const answer = await fetch(baseUrl + path, { headers: { 'accept-encoding': 'identity' } })
    const body = Buffer.from(await answer.arrayBuffer())
    if (answer.status !== 200) throw new Error(`${path} is answered by ${answer.status}`)
    return { release: answer.headers.get('x-release') ?? '', body }
  }
  const manifestOf = async (release: string) => {
    const known = manifests.get(release)
    if (known) return known
    const manifest = JSON.parse(`${(await get(`/feeds/releases/${release}/feeds/manifest.json`)).body}`) as Manifest
    manifests.set(release, manifest)
    return manifest
  }
  const compare = async (address: string, path: string) => {
    const { release, body } = await get(address)
    const file = (await manifestOf(release)).files.find((one) => one.path === path)
    const sha256 = createHash('sha256').update(body).digest('hex')
    if (file?.sha256 !== sha256) faults.push(`${address} of ${release} is not what its manifest says`)
    reads++
  }
  const round = async () => {
    const manifest = JSON.parse(`${(await get('/feeds/manifest.json')).body}`) as Manifest
    for (const { path, immutablePath } of manifest.files) {
      await compare(immutablePath, path)
      await compare(path, path)
    }
  }
  const rounds = (async () => {
    while (!stopping) {
      await round().catch((error: unknown) => {
        // Every answer is to be whole; one that is missing is a fault as well.
        faults.push(error instanceof Error ? error.message : String(error))
      })
      await sleep(200)
    }
  })()
  return {
    stop: async () => {
      stopping = true
      await rounds
      return { reads, releases: manifests.size, faults }
    },
  }
}
