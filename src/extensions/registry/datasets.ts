import type { DatasetFields, Publisher, RegisteredDataset } from './registry-client.js'

/** How datasets are registered. */
export type RegistrySettings = {
  /** The API of the registry. */
  readonly url: string
  /** IATI identifier of the publisher. */
  readonly publisherRef: string
  /** Address of the published files, without trailing slash. */
  readonly baseUrl: string
  readonly licence: string
  readonly visibility: 'public' | 'private'
  /** Begins all short names; undefined: the short name of the publisher. */
  readonly prefix: string | undefined
}

/** A file that should be registered. */
export type WantedDataset = Pick<DatasetFields, 'url' | 'visibility' | 'licence_id'> & {
  /** Ends the short name: `activities`, `activities-2`, `organisations`. */
  readonly code: string
}

/** What should be registered of these published paths: each segment, and the organisations (iati.md 1.4). */
export function wantedDatasets(settings: RegistrySettings, paths: readonly string[]): WantedDataset[] {
  const { baseUrl, visibility, licence } = settings
  return paths.flatMap((path) => {
    const [, code] = /^\/iati\/(activities(?:-\d+)?|organisations)\.xml$/.exec(path) ?? []
    return code === undefined ? [] : [{ code, url: `${baseUrl}${path}`, visibility, licence_id: licence }]
  })
}

const comparedFields = ['url', 'licence_id', 'visibility'] as const

/** A field of a dataset whose value in the registry is wrong. */
type Difference = {
  readonly field: (typeof comparedFields)[number]
  readonly registered: string
  readonly wanted: string
}

/** A file that should be registered, and what the registry has of it. */
export type DatasetState = {
  readonly state: 'registered' | 'missing' | 'different'
  readonly id?: string
  readonly code: string
  /** What the registry has, or would be given. */
  readonly fields: DatasetFields
  readonly differences: readonly Difference[]
}

/**
 * Compares what should be registered with the publisher's datasets. The dataset of a file is the one with its address, or
 * else with its short name: one that was registered by hand is taken over, and keeps its names, which others know it by.
 */
export function compareDatasets(
  wanted: readonly WantedDataset[],
  registered: readonly RegisteredDataset[],
  publisher: Publisher,
  prefix: string,
): DatasetState[] {
  const byAddress = wanted.map(({ url }) => registered.find(({ metadata }) => isSamePlace(metadata.url, url)))
  return wanted.map(({ code, ...fields }, index) => {
    const shortName = `${prefix}-${code}`
    const found =
      byAddress[index] ??
      registered.find((dataset) => dataset.metadata.short_name === shortName && !byAddress.includes(dataset))
    if (!found) {
      const name = `${publisher.metadata.human_readable_name} ${code.replace('-', ' ')}`
      const missing = { human_readable_name: name, short_name: shortName, source_type: 'primary_source', ...fields }
      return { state: 'missing', code, fields: missing, differences: [] }
    }
    const differences = comparedFields.flatMap((field) =>
      found.metadata[field] === fields[field]
        ? []
        : [{ field, registered: found.metadata[field], wanted: fields[field] }],
    )
    const state = differences.length > 0 ? 'different' : 'registered'
    return { state, id: found.id, code, fields: found.metadata, differences }
  })
}

/** Whether two addresses lead to one file, over http or https. */
function isSamePlace(a: string, b: string): boolean {
  const placeOf = (url: string) => (URL.canParse(url) ? new URL(url).host + new URL(url).pathname : url)
  return placeOf(a) === placeOf(b)
}
