import { type Decimal, fromMinorUnits, toMinorUnits } from '../../domain/money.js'
import type { DonationOption, ProjectGraph } from '../../domain/project.js'
import { countryRecord } from './country.js'
import { mainImage } from './image.js'
import { organizationRecord } from './organization.js'
import { themeRecord } from './theme.js'
import {
  boolean,
  dateTime,
  decimal,
  type FieldText,
  fieldTexts,
  integer,
  joinFields,
  list,
  money,
  record,
  string,
  type WireRecord,
  type WireText,
  wireText,
  wrapper,
} from './wire.js'

/**
 * Version of the project record. Raise it with every change of what `projectRecord` writes: stored records of another
 * version are rendered again.
 */
export const projectRecordVersion = 2

/** The full project record (wire.md 3.1) in both formats. */
export function projectRecord(graph: ProjectGraph): WireText {
  return wireText('project', projectFields(graph))
}

// The order is the order of JSON (wire.md 3.1). Texts that every captured record has are written
// empty when they are absent, since clients read them without a check; everything else absent is left out.
function projectFields(graph: ProjectGraph): WireRecord {
  const { project } = graph
  return record([
    ['id', integer(project.id)],
    ['organization', graph.organisation && organizationRecord(graph.organisation)],
    ['active', boolean(project.active)],
    ['title', string(project.title)],
    ['summary', string(project.summary ?? '')],
    ['contactName', optional(project.contactName)],
    ['contactTitle', optional(project.contactTitle)],
    ['contactAddress', string(project.contactAddress ?? '')],
    ['contactAddress2', optional(project.contactAddress2)],
    ['contactCity', string(project.contactCity ?? '')],
    ['contactState', string(project.contactState ?? '')],
    ['contactPostal', string(project.contactPostal ?? '')],
    ['contactCountry', string(project.contactCountry ?? '')],
    ['contactUrl', string(project.contactUrl ?? '')],
    ['projectLink', string(project.projectLink ?? '')],
    ['progressReportLink', string(project.progressReportLink ?? '')],
    // Importers look the name up in the theme list, so the list's spelling wins over the source's.
    ['themeName', string(graph.themes[0]?.name ?? project.themeName ?? '')],
    ['country', string(project.countryName ?? graph.countries[0]?.name ?? '')],
    ['iso3166CountryCode', string(project.countryCode ?? graph.countries[0]?.code ?? '')],
    ['region', string(project.regionName ?? '')],
    ['goal', project.goal && money(project.goal)],
    ['funding', money(project.funding)],
    ['remaining', remainingOf(graph)],
    ['numberOfDonations', integer(project.numberOfDonations)],
    ['status', string(project.status)],
    ['need', string(project.need ?? '')],
    ['longTermImpact', string(project.longTermImpact ?? '')],
    ['activities', string(project.activities ?? '')],
    ['additionalDocumentation', optional(project.additionalDocumentation)],
    ['notice', optional(project.notice)],
    ['imageLink', string(project.imageLink ?? graph.photos[0]?.renditions.original ?? '')],
    ['imageGallerySize', project.imageGallerySize === undefined ? undefined : integer(project.imageGallerySize)],
    ['videos', present(graph.videos, (url) => record([['url', string(url)]]), 'video')],
    ['longitude', project.locationPrecision === 'point' ? optionalDecimal(project.longitude) : undefined],
    ['latitude', project.locationPrecision === 'point' ? optionalDecimal(project.latitude) : undefined],
    ['approvedDate', project.approvedDate && dateTime(project.approvedDate)],
    ['modifiedDate', project.modifiedDate && dateTime(project.modifiedDate)],
    ['numberOfReports', integer(project.numberOfReports ?? graph.reports.length)],
    ['dateOfMostRecentReport', dateOfMostRecentReport(graph)],
    ['donationOptions', present(graph.donationOptions, donationOptionRecord, 'donationOption')],
    ['image', mainImage(graph)],
    ['themes', wrapper('theme', graph.themes.map(themeRecord))],
    ['countries', wrapper('country', graph.countries.map(countryRecord))],
    ['type', string(project.type)],
  ])
}

/** The summary record (wire.md 3.2) in both formats; without amounts of money given. */
export function projectSummary(graph: ProjectGraph): WireText {
  return summaryOf(fieldTexts(projectFields(graph)))
}

const summaryNames = [
  ...['id', 'organization', 'active', 'title', 'summary', 'themeName', 'country', 'iso3166CountryCode', 'status'],
  ...['imageLink', 'donationOptions', 'themes', 'countries', 'type'],
] as const

function summaryOf(fields: readonly FieldText[]): WireText {
  const byName = new Map(fields.map((field) => [field.name, field]))
  return joinFields(
    'project',
    summaryNames.flatMap((name) => byName.get(name) ?? []),
  )
}

/** Everything that is kept of a project's version for later reads. */
export function projectTexts(graph: ProjectGraph) {
  const fields = fieldTexts(projectFields(graph))
  const [full, summary] = [joinFields('project', fields), summaryOf(fields)]
  return {
    id: graph.project.id,
    version: graph.version,
    xml: full.xml,
    json: full.json,
    summaryXml: summary.xml,
    summaryJson: summary.json,
  }
}

/** A suggested gift; its amount is a whole number (wire.md 1.4). */
function donationOptionRecord(option: DonationOption): WireRecord {
  return record([
    ['amount', integer(fromMinorUnits(toMinorUnits(option.amount, 0), 0))],
    ['description', string(option.description ?? '')],
  ])
}

function optional(text: string | undefined) {
  return text === undefined ? undefined : string(text)
}

function optionalDecimal(value: Decimal | undefined) {
  return value === undefined ? undefined : decimal(value)
}

function present<T>(values: readonly T[], toRecord: (value: T) => WireRecord, itemName: string) {
  return values.length === 0 ? undefined : record([[itemName, list(values.map(toRecord))]])
}

// What the source states, else goal minus funding; never below zero (captured: goal 3046, funding 3071, remaining 0.00).
function remainingOf({ project }: ProjectGraph) {
  if (project.goal === undefined && project.remaining === undefined) return undefined
  const left =
    project.remaining === undefined
      ? toMinorUnits(project.goal ?? project.funding, 2) - toMinorUnits(project.funding, 2)
      : toMinorUnits(project.remaining, 2)
  return money(fromMinorUnits(left > 0n ? left : 0n, 2))
}

function dateOfMostRecentReport({ project, reports }: ProjectGraph) {
  const date = project.dateOfMostRecentReport ?? reports[0]?.publishedAt
  return date && dateTime(date)
}
