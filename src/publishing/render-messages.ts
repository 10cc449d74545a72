import type { ErrorCode } from '../domain/errors.js'
import type { MappingConfig } from '../feeds/iati/mapping.js'
import type { RenderedProject } from './render-project.js'
import type { RenderSource } from './renderer.js'
import type { RenderStage } from './stages.js'

// What goes between a process and its rendering threads. Messages are copied, but for the bytes of the texts, which lie in
// one block a batch that is handed over.

/** What a thread is started with. */
export type ThreadOptions = {
  readonly mapping: MappingConfig
  readonly standardDir: string | undefined
  /** Whether anyone hears of stages. */
  readonly timed: boolean
}

export type RenderRequest = { readonly projects: readonly RenderSource[]; readonly startedAt: Date }

export type RenderReply =
  | { readonly kind: 'ready'; readonly schemaVersion: string | undefined }
  | {
      readonly kind: 'rendered'
      readonly projects: readonly RenderedProject[]
      readonly stages: readonly (readonly [RenderStage, number])[]
    }
  | ({ readonly kind: 'failed' } & Trouble)
  /** The thread cannot start. */
  | ({ readonly kind: 'unable' } & Trouble)

/** An error as it can be sent: what is no property of every error goes beside it. */
export type Trouble = { readonly code: ErrorCode | undefined; readonly error: unknown }

/** The same projects with all texts as views of one new block, and that block. */
export function toBlock(projects: readonly RenderedProject[]): { projects: RenderedProject[]; block: ArrayBuffer } {
  const texts = projects.flatMap(textsOf)
  const lengths = texts.map((text) => Buffer.byteLength(text))
  const block = new ArrayBuffer(lengths.reduce((sum, length) => sum + length, 0))
  const all = Buffer.from(block)
  let [index, at] = [0, 0]
  const next = (text: string | Buffer): Buffer => {
    const length = lengths[index++] ?? 0
    const view = all.subarray(at, at + length)
    if (typeof text === 'string') view.write(text)
    else text.copy(view)
    at += length
    return view
  }
  return { projects: projects.map((project) => withTexts(project, next)), block }
}

/** The projects with their texts as buffers again, which copying made plain arrays of bytes. */
export function toBuffers(projects: readonly RenderedProject[]): RenderedProject[] {
  return projects.map((project) =>
    withTexts(project, (text) =>
      typeof text === 'string' ? text : Buffer.from(text.buffer, text.byteOffset, text.byteLength),
    ),
  )
}

function textsOf({ rendering: { content, feed }, record }: RenderedProject): (string | Buffer)[] {
  return [
    ...(content ? [content.text] : []),
    ...(typeof feed === 'object' ? [feed.text] : []),
    ...[record.xml, record.json, record.summaryXml, record.summaryJson],
  ]
}

function withTexts(
  { rendering, record }: RenderedProject,
  change: <T extends string | Buffer>(text: T) => T | Buffer,
): RenderedProject {
  const { content, feed } = rendering
  return {
    rendering: {
      ...rendering,
      ...(content && { content: { ...content, text: change(content.text) } }),
      ...(typeof feed === 'object' && { feed: { ...feed, text: change(feed.text) } }),
    },
    record: {
      ...record,
      xml: change(record.xml),
      json: change(record.json),
      summaryXml: change(record.summaryXml),
      summaryJson: change(record.summaryJson),
    },
  }
}
