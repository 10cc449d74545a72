import { releaseChainPath } from '../../iati/addresses.js'
import type { ReleaseRecord } from '../../kernel/release-chain.js'
import type { ReadableRelease } from './release-reader.js'

/** The records of a release and of all before it; none of a release that an earlier version made. */
export async function releaseChain(release: ReadableRelease | undefined): Promise<ReleaseRecord[]> {
  const file = await release?.find(releaseChainPath)
  if (!file) return []
  const { releases } = JSON.parse(await file.identity.text()) as { releases: ReleaseRecord[] }
  return releases
}
