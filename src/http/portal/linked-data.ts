import { cataloguePath, dataPackagePath, isReportArchive } from '../../iati/addresses.js'
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
export async function datasetOf(
  { manifest, find }: ReadableRelease,
  { baseUrl, name, description }: { readonly baseUrl: string; readonly name: string; readonly description: string },
): Promise<Html> {
  const dataPackage = await find(dataPackagePath)
  const { licenses } = dataPackage
    ? (JSON.parse(await dataPackage.identity.text()) as { licenses?: readonly { path: string }[] })
    : {}
  return linkedData({
    '@context': 'https://schema.org',
    '@type': 'Dataset',
    ...{ name, description, url: `${baseUrl}/`, isAccessibleForFree: true },
    ...(licenses?.[0] && { license: licenses[0].path }),
    creator: { '@type': 'Organization', name: manifest.publisher.name, identifier: manifest.publisher.ref },
    dateModified: manifest.generated,
    includedInDataCatalog: { '@type': 'DataCatalog', url: `${baseUrl}${cataloguePath('jsonld')}` },
    distribution: manifest.files
      .filter(({ path }) => !isReportArchive(path))
      .map(({ path, mediaType, bytes, sha256 }) => ({
        '@type': 'DataDownload',
        contentUrl: `${baseUrl}${path}`,
        encodingFormat: mediaType.split(';')[0],
        contentSize: `${bytes} B`,
        sha256,
      })),
  })
}
