import { createHash } from 'node:crypto'
import { type IsoDate, isoDateOf, isoInstantOf } from '../domain/dates.js'
import { ServiceError } from '../domain/errors.js'
import type { Decimal } from '../domain/money.js'
import { hasError, type Notice, type NoticeSummary } from '../domain/notice.js'
import { organisationsPath } from '../feeds/addresses.js'
import { iatiEnvelope } from '../feeds/iati/envelope.js'
import type { MappingConfig } from '../feeds/iati/mapping.js'
import {
  type Partner,
  recipientOrgBudget,
  toOrganisation,
  toPartnerOrganisation,
  type YearFigures,
  yearsOfFile,
} from '../feeds/iati/organisation.js'
import type { Connection, Db } from '../store/connection.js'
import {
  type MoneyScope,
  moneyByYear,
  type PartnerRow,
  plannedByPartner,
  publishedPartners,
} from '../store/organisation-file.js'
import { validateOrganisation } from '../validation/index.js'
import type { Element } from '../xml/element.js'
import { writeElement } from '../xml/writer.js'
import type { Dataset } from './dataset.js'
import type { Manifest } from './manifest.js'
import type { PublicationDeps, RunHandle } from './publication.js'

/** The file, and what the manifest keeps of the publisher's own record. */
export type OrganisationFile = { readonly dataset: Dataset; readonly publisherRecord: Manifest['publisherRecord'] }

/**
 * The organisation file: the publisher's record, then one for each partner with a real identifier. It is made twice, once
 * to know whether it changed and once to be written, and never held in memory. An invalid publisher's record stops the
 * run, for it can only be a wrong configuration; an invalid partner's is left out.
 */
export async function organisationFile(
  deps: PublicationDeps,
  run: RunHandle,
  db: Db,
  client: Connection,
  live: Manifest | undefined,
): Promise<OrganisationFile> {
  const config = deps.mapping
  const day = isoDateOf(run.startedAt)
  const publisher = publisherText(config, await figures(db, config, day), day)
  const first = await read(client, config, day, publisher)
  const generated = isoInstantOf(run.startedAt)
  const same = live?.publisherRecord?.hash === first.publisherHash ? live.publisherRecord : undefined
  const publisherRecord = { hash: first.publisherHash, lastUpdated: same?.lastUpdated ?? generated }
  const { head, tail } = iatiEnvelope('iati-organisations', generated)
  return {
    publisherRecord,
    dataset: {
      path: organisationsPath,
      mediaType: 'application/xml; charset=utf-8',
      records: first.records,
      fingerprint: first.hash,
      notices: first.notices,
      content: async function* ({ client: connection }) {
        yield Buffer.from(`${head}${openTag}last-updated-datetime="${publisherRecord.lastUpdated}" `)
        yield Buffer.from(publisher.before.slice(openTag.length))
        for await (const budget of recipientBudgets(connection, config, day)) yield Buffer.from(budget)
        yield Buffer.from(`${publisher.after}\n`)
        for await (const { text } of partners(connection, config, day)) if (text) yield Buffer.from(`${text}\n`)
        yield Buffer.from(tail)
      },
    },
  }
}

const openTag = '<iati-organisation '

async function figures(db: Db, config: MappingConfig, day: IsoDate): Promise<YearFigures[]> {
  const { first, last } = yearsOfFile(day)
  const money = await moneyByYear(db, scopeOf(config, day))
  const sum = (year: number, kind: 'paid' | 'fees' | 'planned') =>
    money.find((one) => one.year === year && one.kind === kind)?.amount ?? ('0' as Decimal)
  return Array.from({ length: last - first + 1 }, (_, index) => first + index).map((year) => ({
    year,
    paid: sum(year, 'paid'),
    fees: sum(year, 'fees'),
    planned: sum(year, 'planned'),
  }))
}

function scopeOf({ currency }: MappingConfig, day: IsoDate): MoneyScope {
  const { first, last } = yearsOfFile(day)
  return { currency, day, first, last }
}

/** The publisher's record around the place of its recipient-org-budgets. */
type PublisherText = { readonly before: string; readonly after: string }

function publisherText(config: MappingConfig, years: readonly YearFigures[], day: IsoDate): PublisherText {
  const organisation = toOrganisation(config, years, day)
  const findings = check(organisation, config, day)
  if (hasError(findings)) {
    const reasons = findings.map((finding) => `${finding.path}: ${finding.detail}`).join('; ')
    throw new ServiceError('configuration-invalid', `the reporting organisation is not valid IATI: ${reasons}`)
  }
  const text = writeElement(organisation)
  const cut = Math.min(
    ...['<total-expenditure>', '<document-link '].map((tag) => text.indexOf(tag)).filter((at) => at > 0),
  )
  return { before: text.slice(0, cut), after: text.slice(cut) }
}

function check(organisation: Element, config: MappingConfig, day: IsoDate): Notice[] {
  return validateOrganisation(organisation, { today: day, reportingOrgRef: config.reportingOrg.ref })
}

type Reading = {
  readonly publisherHash: string
  readonly hash: string
  readonly records: number
  readonly notices: NoticeSummary
}

/** Makes everything once, for its hashes, its number and what the checks find. */
async function read(
  client: Connection,
  config: MappingConfig,
  day: IsoDate,
  publisher: PublisherText,
): Promise<Reading> {
  const hash = createHash('md5').update(publisher.before)
  for await (const budget of recipientBudgets(client, config, day)) hash.update(budget)
  hash.update(publisher.after)
  const publisherHash = hash.copy().digest('hex')
  const byCode: Record<string, number> = {}
  const count = { error: 0, warning: 0, info: 0 }
  let records = 1
  for await (const { text, findings } of partners(client, config, day)) {
    for (const { code, severity } of findings) {
      byCode[code] = (byCode[code] ?? 0) + 1
      count[severity] += 1
    }
    if (!text) continue
    hash.update('\n').update(text)
    records += 1
  }
  const notices = { errors: count.error, warnings: count.warning, infos: count.info, byCode }
  return { publisherHash, hash: hash.digest('hex'), records, notices }
}

async function* recipientBudgets(client: Connection, config: MappingConfig, day: IsoDate): AsyncGenerator<string> {
  for await (const row of plannedByPartner(client, scopeOf(config, day))) {
    const budget = recipientOrgBudget(toPartner(row), { year: row.year, planned: row.amount }, config)
    if (budget) yield writeElement(budget)
  }
}

/** The records of partners; `text` is absent for one that is invalid or has the identifier of the one before it. */
async function* partners(
  client: Connection,
  config: MappingConfig,
  day: IsoDate,
): AsyncGenerator<{ readonly text?: string; readonly findings: readonly Notice[] }> {
  let last: string | undefined
  for await (const row of publishedPartners(client)) {
    const record = toPartnerOrganisation(toPartner(row), config)
    const identifier = record?.children[0]?.text
    if (!record || identifier === last) continue
    last = identifier
    const findings = check(record, config, day)
    yield hasError(findings) ? { findings } : { text: writeElement(record), findings }
  }
}

function toPartner({ name, ein, orgRef, url }: PartnerRow): Partner {
  return { name, ...(ein !== null && { ein }), ...(orgRef !== null && { orgRef }), ...(url !== null && { url }) }
}
