import { regionNames } from '../../kernel/regions.js'

const { africa, asia, europe, latin, middleEast, north } = regionNames

/** A region of its own, without a country: platforms have at least seven regions, and clients rely on it. */
export const worldwide = 'Worldwide'

/** Where seeded projects work, with a point somewhere inside; the demo uses the first twelve. */
export const seedCountries = (
  [
    ['KE', 'KEN', 'Kenya', africa, 0.2, 37.9],
    ['IN', 'IND', 'India', asia, 22.8, 79.1],
    ['US', 'USA', 'United States', north, 39.6, -98.4],
    ['JO', 'JOR', 'Jordan', middleEast, 31.2, 36.8],
    ['PE', 'PER', 'Peru', latin, -9.4, -75.1],
    ['SL', 'SLE', 'Sierra Leone', africa, 8.6, -11.8],
    ['NP', 'NPL', 'Nepal', asia, 28.3, 83.9],
    ['UA', 'UKR', 'Ukraine', europe, 49.1, 31.4],
    ['GT', 'GTM', 'Guatemala', latin, 15.7, -90.3],
    ['UG', 'UGA', 'Uganda', africa, 1.3, 32.4],
    ['PH', 'PHL', 'Philippines', asia, 12.2, 122.7],
    ['HT', 'HTI', 'Haiti', latin, 18.9, -72.7],
    ['LB', 'LBN', 'Lebanon', middleEast, 33.9, 35.9],
    ['MX', 'MEX', 'Mexico', north, 23.9, -102.5],
    ['ZA', 'ZAF', 'South Africa', africa, -29.0, 25.1],
    ['BR', 'BRA', 'Brazil', latin, -10.8, -53.1],
    ['KH', 'KHM', 'Cambodia', asia, 12.7, 104.9],
    ['ET', 'ETH', 'Ethiopia', africa, 8.6, 39.6],
    ['RO', 'ROU', 'Romania', europe, 45.9, 25.0],
    ['ID', 'IDN', 'Indonesia', asia, -2.2, 117.3],
    ['NG', 'NGA', 'Nigeria', africa, 9.6, 8.1],
    ['CO', 'COL', 'Colombia', latin, 3.9, -73.1],
    ['MW', 'MWI', 'Malawi', africa, -13.2, 34.3],
    ['TL', 'TLS', 'Timor-Leste', asia, -8.8, 125.8],
  ] as const
).map(([code, alpha3, name, region, latitude, longitude]) => ({ code, alpha3, name, region, latitude, longitude }))

/** Three of these make the name of a place that does not exist. */
export const syllables = 'ta mi ro ke lu san de vo ni ba rel tu mor ha si no len ga wi po dra fe zu mar'.split(' ')

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

/** For each theme what a project sets out to do (`%n` people, `%p` the place), and the goals and targets that it may name (SDG). */
export const themeWords: Readonly<Record<string, readonly [purpose: string, ...sdgs: string[]]>> = {
  agriculture: ['Drought-proof seeds for %n smallholders in %p', '2', '2.4'],
  animals: ['A shelter for %n stray animals in %p', '15'],
  art: ['Music and theatre for %n young people in %p', '11.4'],
  children: ['A safe home for %n children in %p', '16.2'],
  climate: ['Solar lamps for %n households in %p', '7.1', '13'],
  'covid-19': ['Oxygen and masks for %n patients in %p', '3.3'],
  democ: ['Peace circles for %n neighbours in %p', '16.1'],
  disability: ['Wheelchairs and ramps for %n people in %p', '10.2'],
  disaster: ['Emergency kits for %n flood survivors in %p', '1.5', '11', '11.5'],
  ecdev: ['Small loans for %n market women in %p', '8.3'],
  edu: ['School books for %n pupils in %p', '4', '4.1'],
  endabuse: ['Shelter and counsel for %n survivors in %p', '5.2', '16.1'],
  env: ['Replant the river bank with %n families in %p', '15.3'],
  gender: ['Leadership training for %n girls in %p', '5', '5.5'],
  health: ['A mobile clinic for %n villagers in %p', '3', '3.8'],
  housing: ['Earthquake-safe roofs for %n families in %p', '11.1'],
  human: ['Way out of bonded labour for %n workers in %p', '8.7'],
  hunger: ['A daily meal for %n schoolchildren in %p', '2.1'],
  justice: ['Legal aid for %n tenants in %p', '10.3'],
  lgbtq: ['A meeting house for %n young people in %p', '10.3'],
  mentalhealth: ['Counselling for %n young adults in %p', '3.4'],
  refugee: ['Language courses for %n newcomers in %p', '10.7'],
  reproductive: ['Safe births for %n mothers in %p', '3.1', '3.7', '5.6'],
  rights: ['Birth certificates for %n children in %p', '16.9'],
  sport: ['Football fields for %n girls and boys in %p', '3.4'],
  tech: ['Coding classes for %n students in %p', '4.4', '9.c'],
  water: ['Clean water for %n families in %p', '6', '6.1', '6.2'],
  wildlife: ['Ranger patrols with %n volunteers around %p', '15.5', '15.7'],
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
