import type { MappingConfig } from '../../../src/iati/mapping/mapping-config.js'
import type { IsoDate } from '../../../src/kernel/dates.js'
import type { CurrencyCode, Decimal } from '../../../src/kernel/money.js'
import type {
  DonationMonth,
  Organisation,
  ProgressReport,
  Project,
  ProjectGraph,
  Theme,
} from '../../../src/kernel/project.js'

/** The test vocabulary: valid nouns that a test changes only where it matters. */

export const day = (text: string): IsoDate => text as IsoDate
export const amount = (text: string): Decimal => text as Decimal
export const usd = 'USD' as CurrencyCode

/** Configuration of the mapping in tests. */
export const mappingConfig: MappingConfig = {
  reportingOrg: { ref: 'US-EIN-123456789', name: 'Example Giving', type: '21' },
  assumed: { donors: 'Individual donors through {publisher}', partnerType: '22', documentCategory: 'A02' },
  currency: usd,
  language: 'en',
  baseUrl: 'https://giving.example',
}

export const waterTheme: Theme = { id: 'water', name: 'Clean Water', sectorCode: '14031', humanitarian: false }
export const educationTheme: Theme = { id: 'edu', name: 'Education', sectorCode: '11220', humanitarian: false }
export const disasterTheme: Theme = {
  id: 'disaster',
  name: 'Disaster Response',
  sectorCode: '72010',
  humanitarian: true,
}

export function anOrganisation(changes: Partial<Organisation> = {}): Organisation {
  return {
    id: 318,
    name: 'Tara Water Trust',
    totalProjects: 4,
    activeProjects: 1,
    countryCode: 'SL',
    countryName: 'Sierra Leone',
    themes: [],
    countries: [],
    ...changes,
  }
}

function aProject(changes: Partial<Project> = {}): Project {
  return {
    id: 2045,
    active: true,
    status: 'active',
    paused: false,
    type: 'project',
    title: 'Wells for Tara',
    summary: 'Four village wells in the Bo district.',
    funding: amount('1250.00'),
    numberOfDonations: 37,
    locationPrecision: 'point',
    firstSeenOn: day('2025-02-12'),
    approvedDate: new Date('2025-02-11T10:30:00Z'),
    source: 'local',
    ...changes,
  }
}

export function aMonth(month: string, value: string, changes: Partial<DonationMonth> = {}): DonationMonth {
  return {
    month: day(`${month}-01`),
    currency: usd,
    kind: 'gift',
    source: 'local',
    amount: amount(value),
    count: 3,
    lastOn: day(`${month}-20`),
    ...changes,
  }
}

export function aReport(id: number, publishedOn: string, changes: Partial<ProgressReport> = {}): ProgressReport {
  return {
    id,
    projectId: 2045,
    title: `Report ${id}`,
    publishedAt: new Date(`${publishedOn}T08:00:00Z`),
    updatedAt: new Date(`${publishedOn}T08:00:00Z`),
    contentHtml: '<p>The pump runs.</p>',
    url: `https://giving.example/projects/wells-for-tara/updates/?subid=${id}`,
    images: [],
    ...changes,
  }
}

/** A project with its organisation, one country and one theme. */
export function aGraph(
  changes: Partial<Omit<ProjectGraph, 'project'>> & { project?: Partial<Project> } = {},
): ProjectGraph {
  const { project, ...rest } = changes
  return {
    organisation: anOrganisation(),
    countries: [{ code: 'SL', name: 'Sierra Leone' }],
    themes: [waterTheme],
    months: [],
    disbursements: [],
    payoutPlan: [],
    sdgs: [],
    photos: [],
    videos: [],
    donationOptions: [],
    reports: [],
    version: 1,
    ...rest,
    project: aProject(project),
  }
}
