import { projectFeedIndexPath } from '../../iati/addresses.js'
import { linesOf } from './lines-of.js'
import type { ReadableRelease } from './release-reader.js'

/** The feed of a project in two indexes: its SHA-256 now and before, undefined where it is not. */
export type FeedDifference = {
  readonly path: string
  readonly sha256: string | undefined
  readonly before: string | undefined
}

type Feed = { readonly path: string; readonly sha256: string }

/** The feeds of projects in either index of feeds, in the order of projects; the lines of the index before are given. */
export async function* feedDifferences(
  release: ReadableRelease,
  linesBefore: AsyncIterable<string>,
): AsyncGenerator<FeedDifference> {
  const idOf = ({ path }: Feed) => Number(path.split('/')[3])
  const [now, before] = [feedsOf(feedIndexLines(release)), feedsOf(linesBefore)]
  let [one, other] = [await now.next(), await before.next()]
  while (!one.done || !other.done) {
    const difference = one.done ? 1 : other.done ? -1 : idOf(one.value) - idOf(other.value)
    const mine = difference <= 0 ? one.value : undefined
    const theirs = difference >= 0 ? other.value : undefined
    const path = mine?.path ?? theirs?.path ?? ''
    yield { path, sha256: mine?.sha256, before: theirs?.sha256 }
    if (difference <= 0) one = await now.next()
    if (difference >= 0) other = await before.next()
  }
}

/** The lines of a release's index of feeds. */
export async function* feedIndexLines(release: ReadableRelease | undefined): AsyncGenerator<string> {
  const index = await release?.find(projectFeedIndexPath)
  if (index) yield* linesOf(index.identity.chunks())
}

async function* feedsOf(lines: AsyncIterable<string>): AsyncGenerator<Feed, undefined> {
  for await (const line of lines) {
    if (line.startsWith('{')) yield JSON.parse(line.replace(/,$/, '')) as Feed
  }
}
