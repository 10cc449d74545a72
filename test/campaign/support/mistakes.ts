import { donationFields } from '../../support/money/donations.js'

/** What a mistake is made on: one project that a file brought, one that the platform's own SQL wrote. */
export type Target = { readonly imported: number; readonly own: number }

/** How the hands of an operator reach the service. Each resolves to what the person is told. */
export type Hands = {
  /** Stops the service, starts it with these variables, and stops that one; the right service is started afterwards. */
  restart(variables: Readonly<Record<string, string>>): Promise<string>
  /** `giving import` of a file with this name and these lines. */
  file(name: string, ...lines: readonly string[]): Promise<string>
  /** A statement of the writer role. */
  sql(statement: string): Promise<string>
  command(...args: readonly string[]): Promise<string>
  /** A request to the API; with a body, a donation. */
  http(address: string, body?: unknown): Promise<string>
  /** A button of the console; `form` replaces what its page has put in. */
  click(address: string, form?: { readonly token?: string; readonly origin?: string }): Promise<string>
  /** Publishes, and resolves to the notices of a project. */
  notices(project: number): Promise<string>
}

/** A kind of mistake, and where it must be named. */
export type Mistake = {
  readonly name: string
  readonly make: (hands: Hands, at: Target) => Promise<string>
  readonly named: RegExp
  /** Of a mistake that the store takes: it concerns one project, which the notices name, until this. */
  readonly fix?: (hands: Hands, at: Target) => Promise<string>
}

const header = 'id,title,status,goal,approvedDate,deadline,latitude,longitude,countries,organization,themes'

/** The row of an imported project, right but for what is given. */
export function projectRow(id: number, wrong: Readonly<Record<string, string>> = {}): string {
  const right: Readonly<Record<string, string>> = {
    ...{ id: `${id}`, title: `Wells ${id}`, status: 'active', goal: `${1000 + id}`, approvedDate: '2026-01-05' },
    ...{ deadline: '2027-06-30', latitude: '7.96', longitude: '-11.74', countries: 'SL', organization: '7' },
    themes: 'water',
  }
  return header
    .split(',')
    .map((name) => wrong[name] ?? right[name])
    .join(',')
}

export const projectsHeader = header

const project = (name: string, wrong: Record<string, string>, named: RegExp, fixed = false): Mistake => ({
  name: `projects.csv: ${name}`,
  make: async (hands, { imported }) => {
    const told = await hands.file('projects.csv', header, projectRow(imported, wrong))
    return fixed ? told + (await hands.notices(imported)) : told
  },
  named,
  ...(fixed && { fix: (hands, { imported }) => hands.file('projects.csv', header, projectRow(imported)) }),
})

const gift = (name: string, row: string, named: RegExp): Mistake => ({
  name: `gifts.csv: ${name}`,
  make: (hands, { imported }) =>
    hands.file('gifts.csv', 'project,date,amount,currency,reference', row.replace('ID', `${imported}`)),
  named,
})

const sql = (name: string, statement: string, named: RegExp): Mistake => ({
  name: `SQL: ${name}`,
  make: (hands, { own }) => hands.sql(statement.replaceAll('ID', `${own}`)),
  named,
})

const variable = (name: string, value: string, named: RegExp): Mistake => ({
  name: `${name}=${value}`,
  make: (hands) => hands.restart({ [name]: value }),
  named,
})

const donation = (
  name: string,
  changes: Record<string, unknown>,
  named: RegExp,
  payment: Record<string, unknown> = {},
): Mistake => ({
  name: `donation: ${name}`,
  make: (hands, { imported }) =>
    hands.http('/api/secure/givingservice/donationsclient', {
      donation: donationFields({ project: { id: imported }, ...changes }, payment),
    }),
  named,
})

const click = (name: string, address: string, named: RegExp, form?: Parameters<Hands['click']>[1]): Mistake => ({
  name: `console: ${name}`,
  make: (hands) => hands.click(address, form),
  named,
})

const command = (name: string, args: readonly string[], named: RegExp): Mistake => ({
  name: `command: ${name}`,
  make: (hands) => hands.command(...args),
  named,
})

/** The mistakes of an ordinary day, each with the words that name it where it was made. */
export const mistakes: readonly Mistake[] = [
  // The service starts, and stops what the variable concerns.
  variable('REPORTING_ORG_REF', 'US-EIN-123456798', /REPORTING_ORG_REF is US-EIN-123456798, and this store has/),
  variable('REPORTING_ORG_REF', '', /REPORTING_ORG_REF is not set, and this store has US-EIN-123456789/),
  variable('REPORTING_ORG_TYPE', '22', /REPORTING_ORG_TYPE is 22, and this store has 21/),
  variable('DEFAULT_CURRENCY', 'EUR', /DEFAULT_CURRENCY is EUR, and this store has USD.*amounts are never relabelled/),
  variable('DEFAULT_LANGUAGE', 'fr', /DEFAULT_LANGUAGE is fr, and this store has en/),
  // The service does not start.
  variable('DEFAULT_CURRENCY', 'DOLLARS', /^2 .*DEFAULT_CURRENCY/s),
  variable('PUBLISH_SCHEDULE', 'every night', /^2 .*PUBLISH_SCHEDULE/s),
  variable('PUBLISH_TIMEZONE', 'Europe/Lisboa', /^2 .*PUBLISH_TIMEZONE/s),
  variable('PUBLISH_KEEP_RELEASES', 'all', /^2 .*PUBLISH_KEEP_RELEASES/s),
  variable('BASE_URL', 'giving.example', /^2 .*BASE_URL/s),
  variable('PAYMENT_GATEWAY', 'paypal', /^2 .*PAYMENT_GATEWAY/s),
  variable('DONOR_KEYS', 'short:abc', /^2 .*DONOR_KEYS/s),
  variable('LOG_LEVEL', 'loud', /^2 .*LOG_LEVEL/s),
  // Refused by line, record and field.
  project('a placeholder of a spreadsheet as title', { title: '#REF!' }, /^2 .*line 2, record \d+, title: expected/s),
  project('thousands with a point', { goal: '25.000' }, /^2 .*line 2, record \d+, goal: .*25000 with/s),
  project('a day of another form', { approvedDate: '05/01/2026' }, /^2 .*line 2, record \d+, approvedDate: expected/s),
  project('a day that is none', { deadline: '2027-02-30' }, /^2 .*line 2, record \d+, deadline: expected/s),
  project('a state that is none', { status: 'open' }, /^2 .*line 2, record \d+, status: expected/s),
  project('a name in place of a country code', { countries: 'Sierra Leone' }, /^2 .*record \d+, countries: expected/s),
  project('an organization that is not there', { organization: '70007' }, /^2 .*record \d+, organization: expected/s),
  project('a latitude above 90', { latitude: '796.0' }, /^2 .*line 2, record \d+, latitude: expected/s),
  project('a slash in the id', { id: '1/2' }, /^2 .*line 2.*id: expected/s),
  gift('another currency', 'ID,2026-03-05,5.00,EUR,M-1', /^2 .*settledAmount: expected what was settled/s),
  gift('a day in the future', 'ID,2096-03-05,5.00,USD,M-2', /^2 .*date: expected/s),
  gift('a project that is not there', '70007,2026-03-05,5.00,USD,M-3', /^2 .*project: expected/s),
  gift('an amount with two points', 'ID,2026-03-05,5.0.0,USD,M-4', /^2 .*amount: expected/s),
  {
    name: 'a file of another kind',
    make: (hands) => hands.file('projects.csv', 'name,amount', 'Wells,5'),
    named: /^2 .*projects\.csv/s,
  },
  // Taken, left out, and named by a notice of this project.
  project('a deadline that means no end', { deadline: '9999-12-31' }, /deadline-unusable/, true),
  project('coordinates of nowhere', { latitude: '0', longitude: '0' }, /location-unusable/, true),
  project('latitude for longitude', { latitude: '-11.74', longitude: '7.96' }, /position-(?:swapped|outside)/, true),
  // Refused by the database.
  sql('NaN as goal', `update project set goal = 'NaN' where id = ID`, /project\.goal: expected a number, got NaN/),
  sql('an infinite deadline', `update project set deadline = 'infinity' where id = ID`, /project\.deadline: expected/),
  sql('a script as link', `update project set project_link = 'javascript:x' where id = ID`, /project_link: expected/),
  sql('rows of another source', `update project set source = 'upstream' where id = ID`, /source: expected local/),
  sql('an unknown currency', `update donation_month set currency = 'XYZ' where project_id = ID`, /currency: expected/),
  sql('another currency', `update donation_month set currency = 'EUR' where project_id = ID`, /expected USD.*got EUR/),
  sql(
    'a month in the future',
    `update donation_month set month = '2096-02-01', last_on = '2096-02-20' where project_id = ID`,
    /donation_month\.month: expected a day that is not in the future/,
  ),
  sql('a table that it may not write', `update release set live = true`, /permission denied|column .* does not exist/),
  sql('no title', `update project set title = null where id = ID`, /title/),
  // Refused with a status and a message.
  donation('another currency', { currencyCode: 'EUR' }, /^400 .*currencyCode/is),
  donation('nothing', { amount: 0 }, /^400 .*amount/s),
  donation('every month', { recurring: true }, /^400 .*frequency: expected monthly/s),
  donation('a card number', { transactionId: '5178059876540437' }, /^400 .*card/s),
  donation('without an address of mail', { email: 'lina' }, /^400 .*e-?mail/is),
  {
    name: 'API: a wrong key',
    make: (hands) => hands.http('/api/public/projectservice/all/projects?api_key=mine'),
    named: /^401 /,
  },
  {
    name: 'API: no number',
    make: (hands) => hands.http('/api/public/projectservice/projects/one.json'),
    named: /^4\d\d /,
  },
  click('a release that is not held', '/releases/LIVE/approve', /^4\d\d .*held/s),
  click('a release that never was', '/releases/70007/rollback', /^4\d\d .*release/s),
  click('a schedule that is none', '/schedules/nightly/pause', /^4\d\d .*open it again/s),
  click('the form of an old page', '/publish', /^4\d\d .*open it again/s, { token: '0'.repeat(64) }),
  click('the form of another site', '/publish', /^4\d\d .*another address/s, { origin: 'https://other.example' }),
  command('invented projects', ['seed', '--projects', '3'], /^2 .*invented projects are only for trials/s),
  command(
    'the currency changed in place',
    ['publisher', 'change', '--from', 'USD', '--to', 'EUR', '--confirm'],
    /^[12] .*(?:convert|EUR)/s,
  ),
  command('a release that never was', ['releases', 'rollback', '70007'], /^2 .*70007/s),
]
