import type { XmlLimits } from '../kernel/xml/reader.js'

/** Limits of an activity or organisation in an IATI file, the same in checks and imports: 40,000 transactions with all their parts. */
export const iatiRecordLimits: XmlLimits = { depth: 64, elements: 500_000, attributes: 100, characters: 16_000_000 }
