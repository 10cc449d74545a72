import type { Notice } from '../../kernel/notice.js'
import type { Element } from '../../kernel/xml/element.js'
import { detached } from './detached.js'
import { identifierOf } from './findings.js'
import type { RecordKind } from './record.js'
import { isForeign } from './structure.js'
import type { SchemaCheck } from './xsd.js'

/** Asks the official schema about the records of a file, and passes its notices and all others on in a fixed order. */
export type SchemaBatches = {
  /** Adds a record and its text; resolves when the next one may be added. */
  add(record: Element, source: string): Promise<void> | undefined
  /** Passes on a notice of another check. */
  note(notice: Notice): void
  /** Resolves when every notice was passed on. */
  finish(): Promise<void>
}

const batchRecords = 100
// Larger batches leave the young generation of the heap before they are freed, and libxml2 keeps the memory of its
// largest one: 280 MB at 1,000,000.
const batchBytes = 100_000
// The most that may wait for the schema, which may be slower than the other checks or still be starting.
const mostWaiting = { bytes: 6_000_000, notices: 10_000 }

type Asked = {
  readonly bytes: number
  readonly answered: Promise<void>
  /** The notices of the schema, once it has answered. */
  notices?: readonly Notice[]
  /** Those of other checks that come after them. */
  readonly later: Notice[]
}

/**
 * The notices of a batch come when the next batch is full, however long the schema takes. Each gets the identifier and line
 * of its record.
 */
export function createSchemaBatches(
  xsd: Pick<SchemaCheck, 'validate'>,
  kind: RecordKind,
  namespaces: Record<string, string>,
  pass: (notice: Notice) => void,
): SchemaBatches {
  let batch: { subject: string; line: number | undefined; text: Buffer }[] = []
  let bytes = 0
  let last: Asked | undefined
  /** Batches whose notices come next. */
  const waiting: Asked[] = []
  let waitingBytes = 0
  let notices = 0

  function ask(): void {
    const records = batch
    const answer = async () => {
      const texts = records.map(({ text }) => text)
      const verdicts = await xsd.validate(texts, kind, namespaces)
      asked.notices = records.flatMap(({ subject, line }, index) =>
        (verdicts[index] ?? []).map((notice) => ({ ...notice, subject, ...(line !== undefined && { line }) })),
      )
      passOn()
    }
    const asked: Asked = { bytes, answered: answer(), later: [] }
    // A failure surfaces when the batch is waited for.
    asked.answered.catch(() => undefined)
    batch = []
    bytes = 0
    wait()
    last = asked
  }

  function wait(): void {
    if (!last) return
    waiting.push(last)
    waitingBytes += last.bytes
  }

  function passOn(): void {
    for (let next = waiting[0]; next?.notices; next = waiting[0]) {
      next.notices.forEach(pass)
      next.later.forEach(pass)
      waitingBytes -= next.bytes
      notices -= next.later.length
      waiting.shift()
    }
  }

  return {
    add(record, source) {
      if (isForeign(record)) return undefined
      // Copied and detached: a waiting text would keep the chunks that it was parsed from in memory.
      const text = Buffer.from(source)
      batch.push({ subject: detached(identifierOf(record)), line: record.line, text })
      bytes += text.length
      if (batch.length < batchRecords && bytes < batchBytes) return undefined
      ask()
      passOn()
      const isFull = waitingBytes > mostWaiting.bytes || notices > mostWaiting.notices
      return isFull ? waiting[0]?.answered : undefined
    },
    note(notice) {
      const before = waiting.at(-1)
      if (!before) return pass(notice)
      before.later.push(notice)
      notices += 1
    },
    async finish() {
      if (batch.length > 0) ask()
      wait()
      for (const { answered } of [...waiting]) await answered
      passOn()
    },
  }
}
