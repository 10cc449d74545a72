import { XmlDocument, XmlXPath } from 'libxml2-wasm'
import { type Decimal, fromMinorUnits, toMinorUnits } from '../../../src/kernel/money.js'
import type { ReadableRelease } from '../../../src/release/read/release-reader.js'

/** What an independent XML parser finds in one activity of a release. */
export type CountedActivity = {
  readonly identifier: string
  readonly path: string
  readonly find: (xpath: string) => string[]
  /** The exact sum of amounts, without zeros at its end. */
  readonly sum: (xpath: string) => string
}

/** Looks at each activity of a release with libxml2; returns how many there are. */
export async function countActivities(
  release: ReadableRelease,
  look: (activity: CountedActivity) => void,
): Promise<number> {
  let count = 0
  const expressions = new Map<string, XmlXPath>()
  const compiled = (xpath: string) => {
    const known = expressions.get(xpath) ?? XmlXPath.compile(xpath)
    expressions.set(xpath, known)
    return known
  }
  for (const { path } of release.manifest.files.filter((file) => /^\/iati\/activities(-\d+)?\.xml$/.test(file.path))) {
    const file = await release.find(path)
    const document = XmlDocument.fromBuffer((await file?.identity.bytes()) ?? Buffer.alloc(0))
    for (const element of document.find(compiled('/iati-activities/iati-activity'))) {
      const find = (xpath: string) => element.find(compiled(xpath)).map((node) => node.content)
      const sum = (xpath: string) => sumOf(find(xpath))
      count += 1
      look({ identifier: find('iati-identifier')[0] ?? '', path, find, sum })
    }
    document.dispose()
  }
  for (const expression of expressions.values()) expression.dispose()
  return count
}

/** The exact sum of amounts, without zeros at its end. */
export function sumOf(amounts: readonly string[]): string {
  const units = amounts.reduce((sum, amount) => sum + toMinorUnits(amount as Decimal, 4), 0n)
  return fromMinorUnits(units, 4).replace(/\.?0+$/, '')
}
