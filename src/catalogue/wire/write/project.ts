import { type Decimal, fromMinorUnits, parseDecimal, toMinorUnits } from '../../../kernel/money.js'
import { wireFieldsOf, wireNameOf } from '../../../kernel/nouns/field.js'
import { projectFields } from '../../../kernel/nouns/project.js'
import type { DonationOption, ProjectGraph } from '../../../kernel/project.js'
import { countryRecord } from './country.js'
import { fieldTexts, joinFields, type WireField, wireFields } from './fields.js'
import { mainImage } from './image.js'
import { organisationRecord } from './organisation.js'
import { themeRecord } from './theme.js'
import {
  dateTime,
  decimal,
  type Format,
  integer,
  money,
  object,
  string,
  toJson,
  toXml,
  type WireObject,
  webAddress,
  wrapper,
} from './wire-value.js'

/** Raise it with every change of what `projectTexts` writes: stored records of another version are rendered again. */
export const projectRecordVersion = 4

/** Fields whose value is not the project's own field of that name. */
const derived: Readonly<Record<string, WireField<ProjectGraph>['valueIn']>> = {
  organization: ({ organisation }) => organisation && organisationRecord(organisation),
  // Importers look the name up in the list of themes, so its spelling there wins.
  themeName: ({ project, themes }) => string(themes[0]?.name ?? project.themeName ?? ''),
  country: ({ project, countries }) => string(project.countryName ?? countries[0]?.name ?? ''),
  iso3166CountryCode: ({ project, countries }) => string(project.countryCode ?? countries[0]?.code ?? ''),
  remaining: remainingOf,
  imageLink: ({ project, photos }) => webAddress(project.imageLink ?? photos[0]?.renditions.original ?? ''),
  videos: ({ videos }) => unlessEmpty('video', videos, (url) => object([['url', webAddress(url)]])),
  longitude: ({ project }) => coordinate(project.locationPrecision, project.longitude),
  latitude: ({ project }) => coordinate(project.locationPrecision, project.latitude),
  modifiedDate: ({ project: { modifiedDate, totalsChangedAt } }) => {
    const isLater = totalsChangedAt !== undefined && !(modifiedDate && modifiedDate > totalsChangedAt)
    const date = isLater ? totalsChangedAt : modifiedDate
    return date && dateTime(date)
  },
  numberOfReports: ({ project, reports }) => integer(project.numberOfReports ?? reports.length),
  dateOfMostRecentReport: ({ project, reports }) => {
    const date = project.dateOfMostRecentReport ?? reports[0]?.publishedAt
    return date && dateTime(date)
  },
  donationOptions: ({ donationOptions }) => unlessEmpty('donationOption', donationOptions, donationOptionRecord),
  image: mainImage,
  themes: ({ themes }) => wrapper('theme', themes.map(themeRecord)),
  countries: ({ countries }) => wrapper('country', countries.map(countryRecord)),
}

const fields = wireFields<ProjectGraph>(projectFields, ({ project }) => project, derived)

const summaryNames = new Set(wireFieldsOf(projectFields).flatMap((one) => (one.wire?.summary ? [wireNameOf(one)] : [])))

/** The texts of a project's version that are stored for later reads: full record (wire.md 3.1) and summary (wire.md 3.2). */
export function projectTexts(graph: ProjectGraph) {
  const texts = fieldTexts(fields, graph)
  const full = joinFields('project', texts)
  const summary = joinFields(
    'project',
    texts.filter(({ name }) => summaryNames.has(name)),
  )
  return {
    id: graph.project.id,
    version: graph.version,
    xml: full.xml,
    json: full.json,
    summaryXml: summary.xml,
    summaryJson: summary.json,
  }
}

/** A record that has only the id (wire.md 4.4). */
export function projectIdRecord(format: Format, id: string): string {
  const record = object([['id', integer(id)]])
  return format === 'xml' ? toXml('project', record) : toJson(record)
}

/** A suggested gift; its amount is a whole number (wire.md 1.4). */
function donationOptionRecord(option: DonationOption): WireObject {
  return object([
    ['amount', integer(fromMinorUnits(toMinorUnits(option.amount, 0), 0))],
    ['description', string(option.description ?? '')],
  ])
}

function coordinate(precision: 'point' | 'country', value: Decimal | undefined) {
  const isShown = precision === 'point' && value !== undefined && parseDecimal(value) !== undefined
  return isShown ? decimal(value) : undefined
}

function unlessEmpty<T>(itemName: string, values: readonly T[], toObject: (value: T) => WireObject) {
  return values.length === 0 ? undefined : wrapper(itemName, values.map(toObject))
}

// As the source states it, else goal minus funding; never below zero (captured: goal 3046, funding 3071, remaining 0.00).
function remainingOf({ project }: ProjectGraph) {
  const { goal, funding, remaining } = project
  if (goal === undefined && remaining === undefined) return undefined
  const left =
    remaining === undefined ? toMinorUnits(goal ?? funding, 2) - toMinorUnits(funding, 2) : toMinorUnits(remaining, 2)
  return money(fromMinorUnits(left > 0n ? left : 0n, 2))
}
