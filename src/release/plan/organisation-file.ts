import { createHash } from 'node:crypto'
import { organisationsPath } from '../../iati/addresses.js'
import { inputKey } from '../../iati/input-key.js'
import { declared, type KeptOrganisation, withKeptOrganisation } from '../../iati/mapping/kept.js'
import type { MappingConfig } from '../../iati/mapping/mapping-config.js'
import {
  type Partner,
  recipientOrgBudget,
  secondaryRecord,
  toOrganisation,
  toPartnerOrganisation,
  type YearFigures,
  yearsOfFile,
} from '../../iati/mapping/organisation.js'
import { organisationChecks } from '../../iati/validation/index.js'
import { type IsoDate, isoDateOf, isoInstantOf } from '../../kernel/dates.js'
import { ServiceError } from '../../kernel/errors.js'
import type { Decimal } from '../../kernel/money.js'
import {
  addSummaries,
  hasError,
  type Notice,
  type NoticeSummary,
  noNotices,
  summarizeNotices,
} from '../../kernel/notice.js'
import { refuseAborted } from '../../kernel/refuse-aborted.js'
import type { Element } from '../../kernel/xml/element.js'
import { writeElement } from '../../kernel/xml/writer.js'
import { inTurns } from '../../kernel/yielder.js'
import type { Connection, Db } from '../../platform/database/connection.js'
import { findFact } from '../../platform/database/facts.js'
import type { Run } from '../../work/run.js'
import type { Texts } from '../bytes/texts.js'
import type { Manifest } from '../read/manifest.js'
import type { LeftOutElement } from '../sql/left-out.js'
import {
  keptOfPublisher,
  keptWithoutPartner,
  type MoneyScope,
  moneyByYear,
  type PartnerRow,
  partnerTexts,
  plannedByPartner,
  publishedPartners,
} from '../sql/organisation-file.js'
import type { PlannedFile, Snapshot } from './planned-file.js'
import { stampedEnvelope } from './stamped-envelope.js'

/** The file, and what the manifest says about the publisher's own record. */
export type OrganisationFile = {
  readonly file: PlannedFile
  readonly publisherRecord: Manifest['publisherRecord']
  /** What came from another publisher's file and is left out for an error; undefined where nothing was checked anew. */
  readonly leftOut?: readonly LeftOutElement[]
}

/**
 * The organisation file (iati.md 12). If an input changed, it is generated twice: once to hash, once to write, so that it
 * is never in memory as a whole. An invalid publisher's record stops the run, since its configuration is wrong; an invalid
 * partner's is left out, and so is an element with an error that came from another publisher's file.
 */
export async function organisationFile(
  config: MappingConfig,
  run: Run,
  snapshot: Snapshot,
  live: Manifest | undefined,
): Promise<OrganisationFile> {
  const day = isoDateOf(run.startedAt)
  const { db, client } = snapshot
  const publisher = await publisherText(config, snapshot, day)
  const inputs = await hashOfInputs(client, config, day, publisher)
  const first = summaryOfLive(live, inputs) ?? (await summarize(client, config, day, publisher))
  refuseAborted(snapshot.signal, work)
  const generated = isoInstantOf(run.startedAt)
  const before = live?.publisherRecord ?? (await importedRecord(db))
  const same = before?.hash === first.publisherHash ? before : undefined
  const publisherRecord = { hash: first.publisherHash, lastUpdated: same?.lastUpdated ?? generated, inputs }
  return {
    publisherRecord,
    ...(first.leftOut && { leftOut: first.leftOut }),
    file: {
      path: organisationsPath,
      mediaType: 'application/xml; charset=utf-8',
      records: first.records,
      fingerprint: first.hash,
      notices: first.notices,
      content: {
        kind: 'texts',
        envelope: stampedEnvelope('iati-organisations', generated),
        texts: async function* (connection): Texts {
          yield [Buffer.from(`${openTag} last-updated-datetime="${publisherRecord.lastUpdated}"`)]
          yield [Buffer.from(publisher.before.slice(openTag.length))]
          for await (const budget of recipientBudgets(connection, config, day)) {
            yield [Buffer.from(writeElement(publisher.declare(budget)))]
          }
          yield [Buffer.from(`${publisher.after}\n`)]
          for await (const partner of partners(connection, config)) {
            const record = await usable(partner, first.invalid, config, day)
            if (record) yield [Buffer.from(`${writeElement(record)}\n`)]
          }
        },
      },
    },
  }
}

/** The organisation file of a release, to be carried over; undefined for a release that has none. */
export function organisationFileOf(live: Manifest | undefined): OrganisationFile | undefined {
  const file = live?.files.find(({ path }) => path === organisationsPath)
  if (!file || !live?.publisherRecord) return undefined
  const { path, mediaType, records, fingerprint, notices } = file
  const texts = (): Texts => {
    throw new Error(`${path} of ${live.release} was to be carried over`)
  }
  return {
    publisherRecord: live.publisherRecord,
    file: { path, mediaType, records, fingerprint, notices, content: { kind: 'texts', texts } },
  }
}

const work = 'planning the organisation file'
const openTag = '<iati-organisation'

/** The publisher's record in the last release of the store that this one was imported from. */
async function importedRecord(db: Db): Promise<Manifest['publisherRecord']> {
  const fact = await findFact(db, 'publisher-record')
  return fact === undefined ? undefined : (JSON.parse(fact) as Manifest['publisherRecord'])
}

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

/** The publisher's record before and after its recipient-org-budgets. */
type PublisherText = {
  readonly before: string
  readonly after: string
  /** Names the language of what is put in between, where the record has another one. */
  declare(budget: Element): Element
  /** What is wrong with it, left out elements included. */
  readonly findings: readonly Notice[]
  readonly leftOut: readonly LeftOutElement[]
}

async function publisherText(
  config: MappingConfig,
  { db, client, signal }: Snapshot,
  day: IsoDate,
): Promise<PublisherText> {
  const own = toOrganisation(config, await figures(db, config, day), day)
  const kept = await keptOfPublisher(db, config.reportingOrg.ref)
  if (!kept) return inTwo(own, own, await refuseInvalid(own, config, day), [])
  const planned = new Set<string>()
  for await (const budget of recipientBudgets(client, config, day))
    planned.add(budget.children[0]?.attributes.ref ?? '')
  const whole = await withKeptOrganisation(own, kept, planned)
  refuseAborted(signal, work)
  const { usable, left } = await withoutErrors(whole, config, day)
  refuseAborted(signal, work)
  const leftOut = left.map((notice) => leftOutOf(notice, config.reportingOrg.ref, kept))
  if (usable) return inTwo(usable, own, left, leftOut)
  await refuseInvalid(own, config, day)
  return inTwo(own, own, left, leftOut)
}

/** The record without those elements of another publisher's file that have errors; undefined where the error is elsewhere. */
async function withoutErrors(
  whole: Element,
  config: MappingConfig,
  day: IsoDate,
): Promise<{ readonly usable: Element | undefined; readonly left: readonly Notice[] }> {
  const left: Notice[] = []
  let record = whole
  // An element may be wrong only once another one is gone, such as a budget that followed it.
  for (;;) {
    const errors = (await check(record, config, day)).filter(({ severity }) => severity === 'error')
    if (errors.length === 0) return { usable: record, left }
    left.push(...errors)
    const children = childrenByPlace(record)
    const wrong = new Set(errors.map(({ path }) => children.get(placeOf(path))))
    if ([...wrong].some((child) => child?.line === undefined)) return { usable: undefined, left }
    record = { ...record, children: record.children.filter((child) => !wrong.has(child)) }
  }
}

/** The children of a record by their places: the name, and which of that name it is. */
function childrenByPlace({ children }: Element): Map<string, Element> {
  const counts = new Map<string, number>()
  return new Map(
    children.map((child) => {
      const nth = (counts.get(child.name) ?? 0) + 1
      counts.set(child.name, nth)
      return [`${child.name} ${nth}`, child]
    }),
  )
}

/** The place of the child that a notice is about; empty for the record itself. */
function placeOf(path: string): string {
  const [, name, nth = '1'] = /^\/[^/]+\/([^/[@]+)(?:\[(\d+)\])?/.exec(path) ?? []
  return name === undefined ? '' : `${name} ${nth}`
}

function leftOutOf(
  { code, path, detail, line }: Notice,
  identifier: string,
  kept: KeptOrganisation | null | undefined,
): LeftOutElement {
  const { file, line: first } = kept ?? {}
  const at = line ?? first
  return { identifier, code, path, detail, ...(file != null && { file, ...(at != null && { line: at }) }) }
}

async function refuseInvalid(organisation: Element, config: MappingConfig, day: IsoDate): Promise<[]> {
  const findings = await check(organisation, config, day)
  if (!hasError(findings)) return []
  const reasons = findings.map((finding) => `${finding.path}: ${finding.detail}`).join('; ')
  throw new ServiceError('configuration-invalid', `the reporting organisation is not valid IATI: ${reasons}`)
}

const beforeBudgets = new Set([
  'organisation-identifier',
  'name',
  'reporting-org',
  'total-budget',
  'recipient-org-budget',
])

function inTwo(
  whole: Element,
  own: Element,
  findings: readonly Notice[],
  leftOut: readonly LeftOutElement[],
): PublisherText {
  const at = whole.children.findIndex(({ name }) => !beforeBudgets.has(name))
  const before = writeElement({ ...whole, children: whole.children.slice(0, at) })
  const closing = `</${whole.name}>`
  return {
    before: before.slice(0, -closing.length),
    after: whole.children.slice(at).map(writeElement).join('') + closing,
    declare: (budget) => declared(budget, whole.attributes, own.attributes['xml:lang']),
    findings,
    leftOut,
  }
}

/** What is wrong with a record; what came from another publisher's file, and has a line of it, is judged as theirs. */
async function check(organisation: Element, config: MappingConfig, day: IsoDate): Promise<Notice[]> {
  const isMoved = organisation.children.some(({ line }) => line !== undefined)
  const strict = (element: Element) => element.line === undefined && !(isMoved && element === organisation)
  return await inTurns(
    organisationChecks(organisation, { today: day, reportingOrgRef: config.reportingOrg.ref, strict }),
  )
}

/** What is known of the file before it is written. */
type FileSummary = {
  readonly publisherHash: string
  readonly hash: string
  readonly records: number
  readonly notices: NoticeSummary
  /** The identifiers of partners whose records have errors. */
  readonly invalid: ReadonlySet<string>
  readonly leftOut?: readonly LeftOutElement[]
}

// The first are enough to see what is wrong with a file.
const mostLeftOut = 100

/** A hash of everything that the file is made from. */
async function hashOfInputs(
  client: Connection,
  config: MappingConfig,
  day: IsoDate,
  { before, after }: PublisherText,
): Promise<string> {
  const hash = createHash('md5').update(`${inputKey(config)}\n${before}\n${after}\n`)
  for await (const texts of partnerTexts(client, scopeOf(config, day))) {
    for (const text of texts) hash.update(text).update('\n')
  }
  return hash.digest('hex')
}

/** The summary of the live release's file, if that was made from the same inputs. */
function summaryOfLive(live: Manifest | undefined, inputs: string): FileSummary | undefined {
  const file = live?.files.find(({ path }) => path === organisationsPath)
  if (!file || live?.publisherRecord?.inputs !== inputs) return undefined
  const { fingerprint, records, notices } = file
  // The file is carried over, so nobody asks which partners are invalid.
  return { publisherHash: live.publisherRecord.hash, hash: fingerprint, records, notices, invalid: new Set() }
}

/** Generates the file once, for hashes, counts and findings. */
async function summarize(
  client: Connection,
  config: MappingConfig,
  day: IsoDate,
  publisher: PublisherText,
): Promise<FileSummary> {
  const hash = createHash('md5').update(publisher.before)
  for await (const budget of recipientBudgets(client, config, day)) hash.update(writeElement(publisher.declare(budget)))
  hash.update(publisher.after)
  const publisherHash = hash.copy().digest('hex')
  let notices = publisher.findings.length > 0 ? summarizeNotices(publisher.findings) : noNotices
  let records = 1
  const invalid = new Set<string>()
  const leftOut = [...publisher.leftOut]
  for await (const partner of partners(client, config)) {
    const { whole, identifier, kept } = partner
    const findings = await check(whole, config, day)
    if (findings.length > 0) notices = addSummaries(notices, summarizeNotices(findings))
    if (hasError(findings)) {
      invalid.add(identifier)
      if (kept) {
        const { left } = await withoutErrors(whole, config, day)
        leftOut.push(...left.slice(0, mostLeftOut).map((one) => leftOutOf(one, identifier, kept)))
      }
      leftOut.splice(mostLeftOut)
    }
    const record = await usable(partner, invalid, config, day)
    if (!record) continue
    hash.update('\n').update(writeElement(record))
    records += 1
  }
  leftOut.splice(mostLeftOut)
  return { publisherHash, hash: hash.digest('hex'), records, notices, invalid, leftOut }
}

async function* recipientBudgets(client: Connection, config: MappingConfig, day: IsoDate): AsyncGenerator<Element> {
  for await (const row of plannedByPartner(client, scopeOf(config, day))) {
    const budget = unlessUnusable(() =>
      recipientOrgBudget(toPartner(row), { year: row.year, planned: row.amount }, config),
    )
    if (budget) yield budget
  }
}

/** A record with what was kept of it, and without. */
type PartnerRecord = {
  readonly whole: Element
  readonly own?: Element
  readonly identifier: string
  readonly kept?: KeptOrganisation | null
}

async function usable(
  { whole, own, identifier, kept }: PartnerRecord,
  invalid: FileSummary['invalid'],
  config: MappingConfig,
  day: IsoDate,
): Promise<Element | undefined> {
  if (!invalid.has(identifier)) return whole
  if (!kept) return undefined
  const { usable: rest } = await withoutErrors(whole, config, day)
  return rest ?? (own && !hasError(await check(own, config, day)) ? own : undefined)
}

/** The records of partners, one for each identifier, then those from before the move of others. */
async function* partners(client: Connection, config: MappingConfig): AsyncGenerator<PartnerRecord> {
  let last: string | undefined
  for await (const row of publishedPartners(client)) {
    const own = unlessUnusable(() => toPartnerOrganisation(toPartner(row), config))
    const identifier = own?.children[0]?.text
    if (!own || identifier === undefined || identifier === last) continue
    last = identifier
    yield { whole: row.kept ? await withKeptOrganisation(own, row.kept) : own, own, identifier, kept: row.kept }
  }
  for await (const { identifier, kept } of keptWithoutPartner(client)) {
    if (identifier === config.reportingOrg.ref) continue
    const whole = await withKeptOrganisation(secondaryRecord(identifier, config), kept)
    yield { whole, identifier, kept }
  }
}

/** What is made of one row; undefined where that fails, so that the row does not stop the others (iati.md 13.3). */
function unlessUnusable(make: () => Element | undefined): Element | undefined {
  try {
    return make()
  } catch {
    return undefined
  }
}

function toPartner({ name, ein, orgRef, url, language, texts }: PartnerRow): Partner {
  const inLanguages = { ...(language !== null && { language }), ...(texts && { texts }) }
  return {
    name,
    ...inLanguages,
    ...(ein !== null && { ein }),
    ...(orgRef !== null && { orgRef }),
    ...(url !== null && { url }),
  }
}
