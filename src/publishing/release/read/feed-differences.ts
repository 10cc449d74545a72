import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { projectFeedIndexPath } from '../../../feeds/addresses.js'
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
  if (index) yield* linesOf(createReadStream(index.identity.path))
}

/** The lines of a text as it comes. */
export async function* linesOf(text: Readable): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of text.setEncoding('utf8') as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') yield rest
}

async function* feedsOf(lines: AsyncIterable<string>): AsyncGenerator<Feed, undefined> {
  for await (const line of lines) {
    if (line.startsWith('{')) yield JSON.parse(line.replace(/,$/, '')) as Feed
  }
}
