import { ServiceError } from '../../kernel/errors.js'
import { parseJson } from '../wire/read/json-reader.js'
import { valueLimits } from '../wire/read/parsed-value.js'
import type { FileRecord } from './file-record.js'

const newline = 0x0a

/**
 * Streams the records of a file with one JSON object on each line (NDJSON). A line that is not JSON, or longer than the
 * limits of a record, is a problem of that line; memory is bounded by the longest line within the limits.
 */
export async function* jsonLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<FileRecord> {
  let pieces: Buffer[] = []
  let bytes = 0
  let line = 1
  const take = () => {
    const record = bytes > valueLimits.characters ? tooLong(line) : readLine(Buffer.concat(pieces), line)
    pieces = []
    bytes = 0
    return record
  }
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      bytes += end - start
      if (bytes <= valueLimits.characters) pieces.push(chunk.subarray(start, end))
      const record = take()
      if (record) yield record
      start = end + 1
      line++
    }
    bytes += chunk.length - start
    // Of a line beyond the limit nothing is kept.
    if (bytes <= valueLimits.characters) pieces.push(chunk.subarray(start))
    else pieces = []
  }
  const record = take()
  if (record) yield record
}

function readLine(body: Buffer, line: number): FileRecord | undefined {
  if (/^\s*$/.test(body.subarray(0, 1000).toString('latin1')) && body.toString('utf8').trim() === '') return undefined
  try {
    return { ...parseJson(body, valueLimits), line, source: body }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const got = error.message.replace(/^line \d+ of the JSON document: /, '')
    return { line, source: body, problem: { field: 'record', expected: 'one JSON object in UTF-8', got } }
  }
}

function tooLong(line: number): FileRecord {
  const expected = `at most ${valueLimits.characters} bytes`
  return { line, problem: { field: 'record', expected, got: 'a longer line' } }
}
