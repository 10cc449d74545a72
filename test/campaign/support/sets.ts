import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Manifest } from '../../../src/release/read/manifest.js'

/** Readers who start at the manifest of one address after the other and follow it; ended by `end`. */
export function readSets(baseUrls: () => readonly string[]) {
  const faults: string[] = []
  let [sets, ended] = [0, false]
  const read = async (baseUrl: string) => {
    const manifest = (await (await fetch(`${baseUrl}/feeds/manifest.json`)).json()) as Manifest
    for (const { immutablePath, sha256 } of manifest.files ?? []) {
      const answer = await fetch(baseUrl + immutablePath)
      const bytes = Buffer.from(await answer.arrayBuffer())
      const isWhole = createHash('sha256').update(bytes).digest('hex') === sha256
      if (!isWhole) faults.push(`${immutablePath}: ${answer.status}, not what the manifest says`)
    }
    if (manifest.files) sets++
  }
  const reading = (async () => {
    for (let at = 0; !ended; at++) {
      const all = baseUrls()
      const baseUrl = all[at % all.length] ?? ''
      // A machine that was killed answers nobody.
      await read(baseUrl).catch(() => undefined)
      await sleep(20)
    }
  })()
  return {
    end: async () => {
      ended = true
      await reading
      return { sets, faults }
    },
  }
}
