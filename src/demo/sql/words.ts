import { regionNames } from '../../kernel/regions.js'

/** A country of seeded data, with a point somewhere inside it. */
export type SeedCountry = {
  readonly code: string
  readonly alpha3: string
  readonly name: string
  readonly region: string
  readonly latitude: number
  readonly longitude: number
}

const { africa, asia, europe, latin, middleEast, north } = regionNames

/** A region of its own, without a country: platforms have at least seven regions, and clients rely on it. */
export const worldwide = 'Worldwide'

function country(
  code: string,
  alpha3: string,
  name: string,
  region: string,
  latitude: number,
  longitude: number,
): SeedCountry {
  return { code, alpha3, name, region, latitude, longitude }
}

/** Where seeded projects work; the demo uses the first twelve. */
export const seedCountries: readonly SeedCountry[] = [
  country('KE', 'KEN', 'Kenya', africa, 0.2, 37.9),
  country('IN', 'IND', 'India', asia, 22.8, 79.1),
  country('US', 'USA', 'United States', north, 39.6, -98.4),
  country('JO', 'JOR', 'Jordan', middleEast, 31.2, 36.8),
  country('PE', 'PER', 'Peru', latin, -9.4, -75.1),
  country('SL', 'SLE', 'Sierra Leone', africa, 8.6, -11.8),
  country('NP', 'NPL', 'Nepal', asia, 28.3, 83.9),
  country('UA', 'UKR', 'Ukraine', europe, 49.1, 31.4),
  country('GT', 'GTM', 'Guatemala', latin, 15.7, -90.3),
  country('UG', 'UGA', 'Uganda', africa, 1.3, 32.4),
  country('PH', 'PHL', 'Philippines', asia, 12.2, 122.7),
  country('HT', 'HTI', 'Haiti', latin, 18.9, -72.7),
  country('LB', 'LBN', 'Lebanon', middleEast, 33.9, 35.9),
  country('MX', 'MEX', 'Mexico', north, 23.9, -102.5),
  country('ZA', 'ZAF', 'South Africa', africa, -29.0, 25.1),
  country('BR', 'BRA', 'Brazil', latin, -10.8, -53.1),
  country('KH', 'KHM', 'Cambodia', asia, 12.7, 104.9),
  country('ET', 'ETH', 'Ethiopia', africa, 8.6, 39.6),
  country('RO', 'ROU', 'Romania', europe, 45.9, 25.0),
  country('ID', 'IDN', 'Indonesia', asia, -2.2, 117.3),
  country('NG', 'NGA', 'Nigeria', africa, 9.6, 8.1),
  country('CO', 'COL', 'Colombia', latin, 3.9, -73.1),
  country('MW', 'MWI', 'Malawi', africa, -13.2, 34.3),
  country('TL', 'TLS', 'Timor-Leste', asia, -8.8, 125.8),
]

/** Three of these make the name of a place that does not exist. */
export const syllables = [
  'ta',
  'mi',
  'ro',
  'ke',
  'lu',
  'san',
  'de',
  'vo',
  'ni',
  'ba',
  'rel',
  'tu',
  'mor',
  'ha',
  'si',
  'no',
  'len',
  'ga',
  'wi',
  'po',
  'dra',
  'fe',
  'zu',
  'mar',
]

export const organisationWords = [
  'Water Trust',
  'Learning Circle',
  'Health Alliance',
  'Farmers Cooperative',
  'Women’s Network',
  'Children’s House',
  'Relief Committee',
  'Forest Stewards',
  'Youth Workshop',
  'Community Foundation',
  'Rights Centre',
  'Housing Initiative',
  'Disability Forum',
  'Arts Collective',
  'Literacy Project',
  'Partners & Friends',
]

/** What a project of each theme sets out to do; `%n` people, `%p` the place. */
export const purposes: Readonly<Record<string, string>> = {
  agriculture: 'Drought-proof seeds for %n smallholders in %p',
  animals: 'A shelter for %n stray animals in %p',
  art: 'Music and theatre for %n young people in %p',
  children: 'A safe home for %n children in %p',
  climate: 'Solar lamps for %n households in %p',
  'covid-19': 'Oxygen and masks for %n patients in %p',
  democ: 'Peace circles for %n neighbours in %p',
  disability: 'Wheelchairs and ramps for %n people in %p',
  disaster: 'Emergency kits for %n flood survivors in %p',
  ecdev: 'Small loans for %n market women in %p',
  edu: 'School books for %n pupils in %p',
  endabuse: 'Shelter and counsel for %n survivors in %p',
  env: 'Replant the river bank with %n families in %p',
  gender: 'Leadership training for %n girls in %p',
  health: 'A mobile clinic for %n villagers in %p',
  housing: 'Earthquake-safe roofs for %n families in %p',
  human: 'Way out of bonded labour for %n workers in %p',
  hunger: 'A daily meal for %n schoolchildren in %p',
  justice: 'Legal aid for %n tenants in %p',
  lgbtq: 'A meeting house for %n young people in %p',
  mentalhealth: 'Counselling for %n young adults in %p',
  refugee: 'Language courses for %n newcomers in %p',
  reproductive: 'Safe births for %n mothers in %p',
  rights: 'Birth certificates for %n children in %p',
  sport: 'Football fields for %n girls and boys in %p',
  tech: 'Coding classes for %n students in %p',
  water: 'Clean water for %n families in %p',
  wildlife: 'Ranger patrols with %n volunteers around %p',
}

/** Sustainable Development Goals and targets that a project of each theme may name. */
export const themeSdgs: Readonly<Record<string, readonly string[]>> = {
  agriculture: ['2', '2.4'],
  animals: ['15'],
  art: ['11.4'],
  children: ['16.2'],
  climate: ['7.1', '13'],
  'covid-19': ['3.3'],
  democ: ['16.1'],
  disability: ['10.2'],
  disaster: ['1.5', '11', '11.5'],
  ecdev: ['8.3'],
  edu: ['4', '4.1'],
  endabuse: ['5.2', '16.1'],
  env: ['15.3'],
  gender: ['5', '5.5'],
  health: ['3', '3.8'],
  housing: ['11.1'],
  human: ['8.7'],
  hunger: ['2.1'],
  justice: ['10.3'],
  lgbtq: ['10.3'],
  mentalhealth: ['3.4'],
  refugee: ['10.7'],
  reproductive: ['3.1', '3.7', '5.6'],
  rights: ['16.9'],
  sport: ['3.4'],
  tech: ['4.4', '9.c'],
  water: ['6', '6.1', '6.2'],
  wildlife: ['15.5', '15.7'],
}

/** Titles in scripts written from right to left. */
export const arabicPurposes = [
  'مياه نظيفة لـ %n عائلة في %p',
  'كتب مدرسية لـ %n طفل في %p',
  'عيادة متنقلة لـ %n شخص في %p',
]
export const hebrewPurposes = [
  'מים נקיים ל־%n משפחות ב־%p',
  'ספרי לימוד ל־%n תלמידים ב־%p',
  'מרפאה ניידת ל־%n איש ב־%p',
]

/** Text that breaks careless writers: markup, entities, quotes, a CDATA end, characters beyond the first plane. */
export const markupText =
  '<b>Bold</b> promises & "honest" results: 5 < 7 > 3, caf\u00e9 &amp; t\u00e9a, ]]> and <script>alert(1)</script> \u{1f331}\u{1f6b0} e\u0301.'

/** Blanks and backslashes that COPY and XML treat specially. */
export const blankText =
  'Line one.\nLine two after a newline.\r\n\tIndented by a tab.\rAfter a carriage return. Files at C:\\new\\table\\report.txt, a lone \\. and a double \\\\ backslash.'
