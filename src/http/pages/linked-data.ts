import { cataloguePath, dataPackagePath, isPart } from '../../iati/addresses.js'
import type { ReadableRelease } from '../../release/read/release-reader.js'
import { type Html, html } from './html.js'

/** What a page says to programs (JSON-LD). */
export function linkedData(document: object): Html {
  // Angle brackets as escapes: the text cannot end its element.
  const json = JSON.stringify(document).replace(
    /[<>&\u2028\u2029]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return html`<script type="application/ld+json">${{ html: json }}</script>\n`
}

/** The release as a `Dataset` of schema.org, by which search engines find data. */
export function datasetOf(
  site: { readonly release: ReadableRelease; readonly licence?: Licence | undefined; readonly baseUrl: string },
  { name, description }: { readonly name: string; readonly description: string },
): Html {
  const { licence, baseUrl } = site
  const { manifest } = site.release
  const catalogue = cataloguePath('jsonld')
  return linkedData({
    '@context': 'https://schema.org',
    '@type': 'Dataset',
    ...{ name, description, url: `${baseUrl}/`, isAccessibleForFree: true },
    ...(licence && { license: licence.path }),
    creator: { '@type': 'Organization', name: manifest.publisher.name, identifier: manifest.publisher.ref },
    dateModified: manifest.generated,
    ...(manifest.files.some(({ path }) => path === catalogue) && {
      includedInDataCatalog: { '@type': 'DataCatalog', url: `${baseUrl}${catalogue}` },
    }),
    distribution: manifest.files
      .filter(({ path }) => !isPart(path))
      .map(({ path, mediaType, bytes }) => ({
        '@type': 'DataDownload',
        contentUrl: `${baseUrl}${path}`,
        encodingFormat: mediaType.split(';')[0],
        contentSize: `${bytes} B`,
      })),
  })
}

/** The licence of a release, as its data package states it. */
export type Licence = { readonly name?: string; readonly title?: string; readonly path: string }

/** Reads it; undefined where none is stated. */
export async function licenceOf({ find }: ReadableRelease): Promise<Licence | undefined> {
  const dataPackage = await find(dataPackagePath)
  if (!dataPackage) return undefined
  return (JSON.parse(await dataPackage.identity.text()) as { licenses?: readonly Licence[] }).licenses?.[0]
}
