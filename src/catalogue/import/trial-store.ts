import type { IsoDate } from '../../kernel/dates.js'
import type { FieldProblem } from '../../kernel/errors.js'
import { type CurrencyCode, type Decimal, fromMinorUnits, parseDecimal, toMinorUnits } from '../../kernel/money.js'
import type {
  Disbursement,
  DonationMonth,
  FunderOrganisation,
  Organisation,
  Photo,
  PlannedPayout,
  ProgressReport,
  Project,
  ProjectGraph,
  Theme,
} from '../../kernel/project.js'
import type { OrganisationRecord, ProjectRecord } from '../../kernel/record.js'
import { firstThemeName, knownThemeId, themeDefault } from '../../kernel/theme-sectors.js'
import { newReference } from '../../money/sql/imported-gifts.js'
import { toHashedRecord } from './hashed-record.js'
import type { ImportSaving } from './kind.js'
import { type GiftRow, toGift } from './kinds/gifts.js'
import { countedMoney } from './kinds/money.js'
import { type OrganisationRow, organisationRecordOf } from './kinds/organisations.js'
import { type ProjectRow, projectRecordOf } from './kinds/projects.js'
import { type ReportRow, reportOf } from './kinds/reports.js'

type Ref = number | string | undefined
type Numbered = { readonly id?: Ref; readonly externalId?: string | undefined }
type MoneyRow = {
  readonly project: Ref
  readonly date: IsoDate
  readonly amount: Decimal
  readonly currency: CurrencyCode
  readonly settledAmount?: Decimal | undefined
  readonly reference: string
  readonly receiver?: Ref
}
type PhotoRow = Photo['renditions'] & {
  readonly project: Ref
  readonly position: number
  readonly id?: number
  readonly title?: string
  readonly consent?: boolean
  readonly takenOn?: IsoDate
}
type ThemeRow = {
  readonly id: string
  readonly name?: string
  readonly sector?: string
  readonly humanitarian?: boolean
}

type Parts = {
  months: Map<string, { month: DonationMonth; units: bigint }>
  disbursements: Disbursement[]
  payoutPlan: PlannedPayout[]
  photos: Map<number, Photo>
  reports: ProgressReport[]
}

// Amounts of records have at most three decimals.
const places = 3
// As an empty store gives them.
const firstNumber = 10_000_001

/**
 * What files say of projects, put together without a store: `giving try` shows it. Records of one file refer to those of the
 * files before it, as they do in a store that was empty.
 */
export class TrialStore {
  readonly #saving: ImportSaving
  readonly #numbers = { project: new Map<string, number>(), organisation: new Map<string, number>() }
  readonly #projects = new Map<number, ProjectRecord>()
  readonly #organisations = new Map<number, Organisation>()
  readonly #themes = new Map<string, Theme>()
  readonly #parts = new Map<number, Parts>()
  readonly #references = new Map<string, string>()
  readonly #names = new Map<number, string>()
  #hasRecords = false

  constructor(saving: ImportSaving) {
    this.#saving = saving
  }

  /** Whether projects name organisations, and no file has any. */
  lacksOrganisations = false

  /** Whether it knows projects by their ids only: money came, and no record of a project. */
  get hasStandIns(): boolean {
    return !this.#hasRecords && this.#parts.size > 0
  }

  /** Takes a record that an importer of this kind has read. Returns why it does not fit to those before it. */
  take(kind: string, row: unknown): FieldProblem | undefined {
    const { row: own, record } = row as { row?: object; record?: object }
    if (kind === 'projects') return this.#takeProject(row as object, own as ProjectRow | undefined)
    if (kind === 'organizations' || kind === 'funders') {
      const read = own ? organisationRecordOf(own as OrganisationRow, new Map()) : (record as OrganisationRecord)
      this.#takeOrganisation(read, (own ?? row) as Numbered)
    } else if (kind === 'themes') this.#takeTheme(own as ThemeRow)
    else if (kind === 'gifts') return this.#takeGift(own as GiftRow)
    else if (kind === 'reports') return this.#takeReport(own as ReportRow)
    else if (kind === 'images') return this.#takePhoto(own as PhotoRow)
    else if (kind === 'disbursements' || kind === 'payout-plans') return this.#takePayout(kind, own as MoneyRow)
    return undefined
  }

  /** The projects with all that is known of them, by number. */
  graphs(): ProjectGraph[] {
    const numbers = this.hasStandIns ? [...this.#parts.keys()] : [...this.#projects.keys()]
    return numbers.sort((a, b) => a - b).map((id) => this.#graphOf(id))
  }

  #number(table: 'project' | 'organisation', ref: Ref): number {
    if (typeof ref === 'number') return ref
    const known = this.#numbers[table].get(ref ?? '')
    const number = known ?? firstNumber + this.#numbers[table].size
    this.#numbers[table].set(ref ?? '', number)
    if (table === 'project') this.#names.set(number, ref ?? '')
    return number
  }

  #takeProject(
    row: { readonly record?: ProjectRecord; readonly externalId?: string; readonly organisation?: string },
    own: ProjectRow | undefined,
  ): FieldProblem | undefined {
    this.#hasRecords = true
    const { record: stated, externalId } = row
    const id = this.#number('project', own?.id ?? own?.externalId ?? externalId ?? stated?.id)
    const read = own ? projectRecordOf({ ...own, id }, new Map()) : (stated as ProjectRecord)
    const organisation = own?.organization ?? row.organisation ?? read.organisation?.id
    const partner = organisation === undefined ? undefined : this.#number('organisation', organisation)
    if (read.organisation) this.#takeOrganisation(read.organisation, { id: partner })
    if (partner !== undefined && this.#organisations.size > 0 && !this.#organisations.has(partner))
      return { field: 'organization', expected: 'an organisation of these files', got: String(organisation) }
    if (partner !== undefined && this.#organisations.size === 0) this.lacksOrganisations = true
    const { organisation: _organisation, ...stays } = read
    const record: ProjectRecord = { ...stays, id, ...(partner !== undefined && { organisationId: partner }) }
    this.#projects.set(id, record)
    if (!own || own.funding !== undefined) this.#open(record)
    return undefined
  }

  /** The total of a record that states one is money from before. */
  #open(record: ProjectRecord): void {
    if (toMinorUnits(record.funding, places) === 0n) return
    const on = toHashedRecord(record, this.#saving, undefined).cumulativeTo
    const { funding: amount, numberOfDonations: count } = record
    this.#addMonth(record.id, { kind: 'opening', amount, count, on, funder: undefined })
  }

  #takeOrganisation(record: OrganisationRecord, { id, externalId }: Numbered): void {
    const number = this.#number('organisation', id ?? externalId)
    const { publication, themes: _themes, countries, unknownFields: _unknown, ...fields } = record
    const { ref: orgRef, type: orgType, language, texts } = publication ?? {}
    const rest = { totalProjects: 0, activeProjects: 0, themes: [], countries }
    this.#organisations.set(number, { ...fields, id: number, orgRef, orgType, language, texts, ...rest })
  }

  #takeTheme({ id, name, sector, humanitarian }: ThemeRow): void {
    const known = themeDefault(id, name)
    this.#themes.set(id, {
      id,
      name: name ?? firstThemeName(id, id),
      sectorCode: sector ?? known?.sectorCode,
      humanitarian: humanitarian ?? known?.humanitarian,
    })
  }

  #takeGift(row: GiftRow): FieldProblem | undefined {
    const project = this.#knownProject(row.project)
    if (typeof project === 'object') return project
    const gift = toGift({ ...row, project }, this.#saving.currency)
    const { single } = gift
    const before = single && this.#references.get(single.referenceHash)
    // A gift that came before is the same gift.
    if (before !== undefined && before === single?.contentHash) return undefined
    if (before !== undefined) return { field: 'reference', expected: newReference, got: single?.name ?? '' }
    if (single) this.#references.set(single.referenceHash, single.contentHash)
    const funder = row.funder === undefined ? undefined : this.#partyOf(row.funder)
    if (row.funder !== undefined && !funder)
      return { field: 'funder', expected: 'an organisation of these files', got: String(row.funder) }
    const { kind, amount, count, on } = gift
    this.#addMonth(project, { kind, amount, count, on, funder })
    return undefined
  }

  #addMonth(
    project: number,
    one: Pick<DonationMonth, 'kind' | 'amount' | 'count' | 'funder'> & { readonly on: IsoDate },
  ): void {
    const { kind, amount, count, on, funder } = one
    const month = `${on.slice(0, 7)}-01` as IsoDate
    const { months } = this.#partsOf(project)
    const key = [month, kind, funder?.id ?? ''].join(' ')
    const known = months.get(key)
    const units = (known?.units ?? 0n) + toMinorUnits(amount, places)
    const lastOn = known && known.month.lastOn > on ? known.month.lastOn : on
    const { currency } = this.#saving
    const sum = { amount: fromMinorUnits(units, places), count: (known?.month.count ?? 0) + count, lastOn }
    months.set(key, { units, month: { month, currency, kind, source: 'import', funder, ...sum } })
  }

  #takePayout(kind: string, row: MoneyRow): FieldProblem | undefined {
    const project = this.#knownProject(row.project)
    if (typeof project === 'object') return project
    const { reference, date } = row
    if (kind === 'payout-plans') {
      const { amount, currency } = row
      this.#partsOf(project).payoutPlan.push({ reference, plannedOn: date, amount, currency })
      return undefined
    }
    const receiver = row.receiver === undefined ? undefined : this.#partyOf(row.receiver)
    const money = countedMoney(row, this.#saving.currency)
    this.#partsOf(project).disbursements.push({ reference, disbursedOn: date, ...money, receiver })
    return undefined
  }

  #takeReport(row: ReportRow): FieldProblem | undefined {
    const project = this.#knownProject(row.project ?? this.#projectOfLinks(row.projectLinks))
    if (typeof project === 'object') return project
    const { externalId: _externalId, ...report } = reportOf(row, project)
    const { reports } = this.#partsOf(project)
    reports.push({ ...report, id: report.id ?? reports.length + 1 })
    return undefined
  }

  #takePhoto(row: PhotoRow): FieldProblem | undefined {
    const project = this.#knownProject(row.project)
    if (typeof project === 'object') return project
    const { project: _project, position, id, title, consent = false, takenOn, ...sizes } = row
    this.#partsOf(project).photos.set(position, {
      ...{ position, wireId: id ?? position, title, consent, takenOn },
      renditions: sizes,
    })
    return undefined
  }

  #projectOfLinks(links: readonly string[] = []): number | undefined {
    const isIts = (link: string | undefined) => link !== undefined && links.includes(link)
    return [...this.#projects.values()].find(
      ({ projectLink, progressReportLink }) => isIts(projectLink) || isIts(progressReportLink),
    )?.id
  }

  #knownProject(ref: Ref): number | FieldProblem {
    const id = ref === undefined ? 0 : this.#number('project', ref)
    if ((!this.#hasRecords && ref !== undefined) || this.#projects.has(id)) return id
    return { field: 'project', expected: 'a project of these files', got: String(ref ?? 'none') }
  }

  #partyOf(ref: Ref): FunderOrganisation | undefined {
    const known = this.#organisations.get(this.#number('organisation', ref))
    if (!known) return undefined
    const { id, name, ein, orgRef, orgType, language, texts } = known
    return { id, name, ein, orgRef, orgType, language, texts }
  }

  #partsOf(project: number): Parts {
    const known = this.#parts.get(project)
    if (known) return known
    const parts: Parts = { months: new Map(), disbursements: [], payoutPlan: [], photos: new Map(), reports: [] }
    this.#parts.set(project, parts)
    return parts
  }

  #themeOf({ id, name }: { readonly id: string; readonly name: string }): Theme {
    const wanted = knownThemeId(name) ?? id
    const stored = this.#themes.get(id) ?? [...this.#themes.values()].find((one) => one.name === name)
    const { name: official, sectorCode, humanitarian } = themeDefault(wanted, name) ?? {}
    return stored ?? { id: wanted, name: official ?? name, sectorCode, humanitarian }
  }

  #graphOf(id: number): ProjectGraph {
    const record = this.#projects.get(id) ?? this.#standIn(id)
    const { organisationId, publication = {}, image: _image, unknownFields: _unknown, ...stated } = record
    const { countries, themes, videos, donationOptions, ...fields } = stated
    const { sdgs = [], countryShares = [], payouts = [], ...own } = publication
    const shares = new Map(countryShares.map(({ code, share }) => [code, share]))
    const parts = this.#partsOf(id)
    const project: Project = {
      ...{ paused: false, locationPrecision: 'point', firstSeenOn: this.#saving.today, source: 'import' },
      ...own,
      ...fields,
      originalGoal: fields.goal,
    }
    return {
      project,
      organisation: organisationId === undefined ? undefined : this.#organisations.get(organisationId),
      countries: countries.map((country) => ({ ...country, share: shares.get(country.code) })),
      themes: themes.map((theme) => this.#themeOf(theme)),
      months: [...parts.months.values()].map(({ month }) => month).sort(byKey(({ month, kind }) => `${month} ${kind}`)),
      disbursements: [...parts.disbursements].sort(byKey((one) => `${one.disbursedOn} ${one.reference}`)),
      payoutPlan: [
        ...parts.payoutPlan,
        ...payouts.map(
          (payout): PlannedPayout => ({
            ...payout,
            plannedOn: payout.plannedOn as IsoDate,
            currency: this.#saving.currency,
          }),
        ),
      ].sort(byKey((one) => `${one.plannedOn} ${one.reference}`)),
      sdgs: [...sdgs].sort(),
      photos: [...parts.photos.values()].sort((a, b) => a.position - b.position),
      videos,
      donationOptions,
      reports: [...parts.reports].sort((a, b) => b.publishedAt.getTime() - a.publishedAt.getTime()),
      version: 1,
    }
  }

  /** A project of which files with money say the id only; nothing of it is published under a real identifier. */
  #standIn(id: number): ProjectRecord {
    const zero = parseDecimal('0') as Decimal
    const title = this.#names.get(id) ?? String(id)
    return {
      ...{ id, title, status: 'active', type: 'project', active: true, funding: zero, numberOfDonations: 0 },
      ...{ countries: [], themes: [], videos: [], donationOptions: [] },
    }
  }
}

/** Orders by a text, in the order of its bytes. */
function byKey<T>(keyOf: (one: T) => string): (a: T, b: T) => number {
  return (a, b) => (keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : 0)
}
