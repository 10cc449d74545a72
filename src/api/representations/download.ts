import { type Format, record, string, wireDocument, wireText } from '../../wire/write/wire.js'

/** The answer of a bulk download: only the address of the file, which is always XML (wire.md 4.4). */
export function downloadDocument(format: Format, url: string): string {
  return wireDocument(format, 'download', wireText('download', record([['url', string(url)]])))
}
