import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ifThere } from '../../kernel/system-errors.js'
import type { WrittenBlock } from '../bytes/blocks.js'
import { joinedCrc } from '../bytes/crc.js'
import type { RecordsOfFile } from './join-files.js'

/** A block of records and the file of the folder that has it. */
export type PlacedBlock = WrittenBlock & { readonly layer: string }

/** The blocks of files of a release folder in their order, and how many bytes each of their layers has. */
export type FolderLayers = {
  readonly sizes: ReadonlyMap<string, number>
  readonly files: ReadonlyMap<string, readonly PlacedBlock[]>
}

/** The blocks of a release, and how many bytes of each layer its files use. */
export type EarlierLayers = FolderLayers & { readonly used: ReadonlyMap<string, number> }

/** Inside a release folder, for the next release alone; a folder without blocks has none. */
export const layersPath = '/layers.json'

// Raise it when the same block would be written with other bytes.
const layersFormat = 1

type LayersFile = {
  readonly format: number
  readonly layers: readonly (readonly [path: string, bytes: number])[]
  readonly files: Readonly<Record<string, readonly BlockRow[]>>
}

type BlockRow = readonly [
  fingerprint: string,
  layer: number,
  at: number,
  bytes: number,
  atInTwin: number,
  bytesInTwin: number,
  crc: number,
]

/** Reads the blocks of a release folder; none from one of another version. */
export async function readLayers(directory: string): Promise<EarlierLayers> {
  const text = await ifThere(readFile(join(directory, layersPath), 'utf8'))
  const file = text === undefined ? undefined : (JSON.parse(text) as LayersFile)
  if (file?.format !== layersFormat) return { sizes: new Map(), files: new Map(), used: new Map() }
  const blocksOf = (rows: readonly BlockRow[]) =>
    rows.map(([fingerprint, layer, at, bytes, atInTwin, bytesInTwin, crc]) => ({
      ...{ fingerprint, at, bytes, atInTwin, bytesInTwin, crc },
      layer: file.layers[layer]?.[0] ?? '',
    }))
  const files = new Map(Object.entries(file.files).map(([path, rows]) => [path, blocksOf(rows)]))
  return { sizes: new Map(file.layers), files, used: bytesByLayer([...files.values()].flat()) }
}

/** The text of `layers.json`, in one order, whichever file was ready first. */
export function layersText({ sizes, files }: FolderLayers): string {
  const used = new Set([...files.values()].flatMap((blocks) => blocks.map(({ layer }) => layer)))
  const layers = [...used].sort().map((path) => [path, sizes.get(path) ?? 0] as const)
  const places = new Map(layers.map(([path], index) => [path, index]))
  const rowOf = ({ fingerprint, layer, at, bytes, atInTwin, bytesInTwin, crc }: PlacedBlock): BlockRow => [
    ...([fingerprint, places.get(layer) ?? 0, at, bytes, atInTwin, bytesInTwin, crc] as const),
  ]
  const paths = [...files.keys()].sort()
  const file: LayersFile = {
    format: layersFormat,
    layers,
    files: Object.fromEntries(paths.map((path) => [path, files.get(path)?.map(rowOf) ?? []])),
  }
  return JSON.stringify(file)
}

/** The path of a layer that a release writes. */
export function layerPath(release: string, name: string): string {
  return `/layers/${release}${name}`
}

/** The path that a layer of a release has in later ones, whatever is published at its own there. */
export function laterPath(layer: string, release: string): string {
  return layer.startsWith(layersFolder) ? layer : layerPath(release, layer)
}

const layersFolder = '/layers/'
const maxLayers = 8
const leastUsed = 0.25

/**
 * The blocks of a file that a later release uses: those in its eight layers with most of them, without layers of which less than
 * a quarter is used by any file.
 */
export function blocksToKeep({ sizes, files, used }: EarlierLayers, path: string): readonly PlacedBlock[] {
  const blocks = files.get(path) ?? []
  const largest = [...bytesByLayer(blocks)].sort(
    ([one, bytes], [other, more]) => more - bytes || (one < other ? 1 : -1),
  )
  const kept = new Set(largest.slice(0, maxLayers).map(([layer]) => layer))
  const isUsed = (layer: string) => (used.get(layer) ?? 0) >= leastUsed * (sizes.get(layer) ?? 0)
  return blocks.filter(({ layer }) => kept.has(layer) && isUsed(layer))
}

function bytesByLayer(blocks: readonly PlacedBlock[]): ReadonlyMap<string, number> {
  const bytes = new Map<string, number>()
  for (const block of blocks) bytes.set(block.layer, (bytes.get(block.layer) ?? 0) + block.bytes)
  return bytes
}

/** Blocks as the spans that they make together: what stands together in a layer and in its twin is one. */
export function spansOf(blocks: readonly PlacedBlock[]): RecordsOfFile[] {
  const spans: PlacedBlock[] = []
  for (const block of blocks) {
    const last = spans.at(-1)
    const follows =
      last?.layer === block.layer &&
      last.at + last.bytes === block.at &&
      last.atInTwin + last.bytesInTwin === block.atInTwin
    if (!last || !follows) {
      spans.push(block)
      continue
    }
    spans[spans.length - 1] = {
      ...last,
      bytes: last.bytes + block.bytes,
      bytesInTwin: last.bytesInTwin + block.bytesInTwin,
      crc: joinedCrc([last, block]),
    }
  }
  return spans.map(({ layer, at, bytes, atInTwin, bytesInTwin, crc }) => ({
    path: layer,
    identity: [at, at + bytes],
    deflated: { span: [atInTwin, atInTwin + bytesInTwin], crc },
  }))
}
