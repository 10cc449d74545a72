import { organisationsPath } from '../../iati/addresses.js'
import type { PublisherIdentity } from '../../kernel/publisher.js'
import type { ReadableRelease } from './release-reader.js'

// The publisher's own record is the first, and begins with its identity.
const headBytes = 16_384

/** Who published a release, by the publisher's own record in the organisation file; undefined where there is none. */
export async function publisherOfRelease(release: ReadableRelease): Promise<PublisherIdentity | undefined> {
  const file = await release.find(organisationsPath)
  if (!file) return undefined
  const chunks: Buffer[] = []
  for await (const chunk of file.identity.chunks()) {
    chunks.push(chunk)
    if (Buffer.concat(chunks).length >= headBytes) break
  }
  const head = Buffer.concat(chunks).toString('utf8')
  const { language, currency } =
    /<iati-organisation [^>]*xml:lang="(?<language>[^"]+)" default-currency="(?<currency>[^"]+)"/.exec(head)?.groups ??
    {}
  const { ref, type } = /<reporting-org ref="(?<ref>[^"]+)" type="(?<type>[^"]+)"/.exec(head)?.groups ?? {}
  return ref && type && currency && language ? { ref, type, currency, language } : undefined
}
