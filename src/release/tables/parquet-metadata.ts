import { ByteWriter } from 'hyparquet-writer'
import { writeMetadata } from 'hyparquet-writer/src/metadata.js'

type FileMetaData = Parameters<typeof writeMetadata>[1]
type Schema = FileMetaData['schema']

export type SchemaElement = Schema[number]
export type RowGroup = FileMetaData['row_groups'][number]

/** A row group as the metadata of a file have it: as objects, those of a large table would take most of a worker's heap. */
export type EncodedGroup = { readonly rows: bigint; readonly bytes: Buffer }

const createdBy = 'giving-iati'
const struct = 12
const longList = 15

/** Encodes a row group, to be put into the metadata of its file. */
export function encodeGroup(group: RowGroup): EncodedGroup {
  const noSchema = [{ name: 'root' }]
  const [none, one] = [encode(noSchema, 0n, []), encode(noSchema, 0n, [group])]
  return { rows: group.num_rows, bytes: one.subarray(endOfGroups(none), endOfGroups(one)) }
}

/** The metadata of a file with these row groups and their length, as they stand before its last four bytes. */
export function encodeMetadata(schema: Schema, groups: readonly EncodedGroup[]): Buffer {
  const rows = groups.reduce((sum, group) => sum + group.rows, 0n)
  const bytes = encode(schema, rows, [])
  const end = endOfGroups(bytes)
  const list = new ByteWriter()
  list.appendUint8((Math.min(groups.length, longList) << 4) | struct)
  if (groups.length >= longList) list.appendVarInt(groups.length)
  const metadata = Buffer.concat([
    bytes.subarray(0, end - 1),
    groups.length === 0 ? Buffer.alloc(1) : list.getBytes(),
    ...groups.map((group) => group.bytes),
    bytes.subarray(end),
  ])
  const length = Buffer.alloc(4)
  length.writeUInt32LE(metadata.length)
  return Buffer.concat([metadata, length])
}

function encode(schema: Schema, num_rows: bigint, row_groups: RowGroup[]): Buffer {
  const writer = new ByteWriter()
  const metadata: Omit<FileMetaData, 'metadata_length'> = {
    ...{ version: 2, created_by: createdBy, schema, num_rows, row_groups },
  }
  writeMetadata(writer, metadata as FileMetaData)
  // Without their length.
  return Buffer.from(writer.getBytes()).subarray(0, -4)
}

/** Where the field after the row groups begins, `created_by`: one byte with its number and type, one with its length. */
function endOfGroups(metadata: Buffer): number {
  return metadata.lastIndexOf(createdBy) - 2
}
