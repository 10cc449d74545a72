import { describe } from 'vitest'
import { testRule } from '../../../../support/iati/rule-findings.js'

const words = '<narrative>Water</narrative>'
const blank = '<narrative> </narrative>'

describe('words', () => {
  const language = '/@xml:lang: expected xml:lang on the record or on each narrative, got neither'
  testRule('language-missing', [
    [''],
    [`<iati-activity xml:lang="en">${words}</iati-activity>`],
    ['<title><narrative xml:lang="en"/></title>'],
    [`<title><narrative xml:lang="en"/>${words}${words}</title>`, language],
  ])
  testRule('title-empty', [
    [`<title>${blank}${words}</title>`],
    [
      `<title/><result><title>${blank}</title></result><document-link><title><other>Water</other></title></document-link>`,
      ...['/title', '/result/title', '/document-link/title'].map(
        (path) => `${path}: expected a narrative with words in title, got none`,
      ),
    ],
  ])
  testRule('description-empty', [
    [`<description>${words}</description>`],
    ['<description/>', '/description: expected a narrative with words in description, got none'],
  ])
  testRule('narrative-empty', [
    [words],
    ['<narrative>a\n</narrative>'],
    [
      `<title><narrative/></title>${blank}`,
      '/title/narrative: expected words in narrative, got none',
      '/narrative: expected words in narrative, got none',
    ],
  ])
  testRule('organisation-unnamed', [
    ['<recipient-org/><reporting-org/>'],
    ...['participating-org', 'owner-org', 'provider-org', 'receiver-org'].flatMap((name) => [
      [`<${name} ref="A-1"/><${name}>${words}</${name}>`] as const,
      [`<${name} ref="">${blank}</${name}>`] as const,
      [`<${name}/>`, `/${name}: expected ref or a narrative in ${name}, got neither`] as const,
    ]),
  ])
  const empty = (name: string) => `/${name}: expected ref or a narrative with words in ${name}, got empty ones`
  testRule('organisation-blank', [
    ['<provider-org/><receiver-org ref="A-1"><narrative/></receiver-org>'],
    ['<provider-org ref=""/>', empty('provider-org')],
    [`<owner-org>${blank}</owner-org>`, empty('owner-org')],
  ])
  testRule('policy-marker-narrative', [
    [`<policy-marker/><policy-marker vocabulary="1"/><policy-marker vocabulary="99">${words}</policy-marker>`],
    [
      '<policy-marker vocabulary="99"/>',
      '/policy-marker: expected a narrative in a policy-marker of vocabulary 99, got none',
    ],
  ])
  const significance =
    '/policy-marker/@significance: expected significance on a policy-marker of vocabulary 1, got none'
  testRule('policy-marker-significance', [
    ['<policy-marker vocabulary="99"/><policy-marker significance="0"/>'],
    ['<policy-marker/>', significance],
    ['<policy-marker vocabulary=""/>', significance],
    ['<policy-marker vocabulary="1"/>', significance],
  ])
})

describe('an address', () => {
  const link = (url: string) => `<document-link url="${url}"/>`
  testRule('url-unusable', [
    ['<document-link/>'],
    [link('http://a') + link('HTTPS://a.example/b?c#d')],
    ...['', '/a', 'ftp://a', 'https:a', 'https:///a', 'see https://a', 'https://a/b c', 'https://a ', 'https://[a'].map(
      (url) => [link(url), `/document-link/@url: expected an absolute http or https URL, got "${url}"`] as const,
    ),
  ])
})

describe('a figure of a result', () => {
  const indicator = (measure: string, inside: string) =>
    `<result><indicator${measure && ` measure="${measure}"`}>${inside}</indicator></result>`
  const figures = (attributes: string) =>
    `<baseline ${attributes}/><period><target ${attributes}/><actual ${attributes}/></period>`
  const paths = ['baseline', 'period/target', 'period/actual'].map((path) => `/result/indicator/${path}`)
  const found = (detail: (name: string) => string) =>
    paths.map((path) => `${path}/@value: ${detail(path.slice(path.lastIndexOf('/') + 1))}`)

  testRule('result-value-missing', [
    [indicator('5', figures('')) + indicator('', figures(''))],
    [
      indicator(
        '1',
        `${figures('value=""')}<title><target/></title><target/><period><period-start/><baseline/></period>`,
      ),
    ],
    ...['1', '2', '3', '4'].map(
      (measure) =>
        [indicator(measure, figures('')), ...found((name) => `expected a value on ${name}, got none`)] as const,
    ),
  ])
  testRule('result-value-not-number', [
    [indicator('1', figures('')) + indicator('5', figures('value="many"')) + indicator('', figures('value="many"'))],
    ...['1', ' -1.5 ', '.5', '5.', '007'].map((value) => [indicator('1', figures(`value="${value}"`))] as const),
    ...['', 'many', '+1', '1e3', '1,5', '.', '1 2', '--1', '1.5.1'].map(
      (value) =>
        [indicator('4', figures(`value="${value}"`)), ...found(() => `expected a number, got "${value}"`)] as const,
    ),
  ])
  testRule('result-value-unwanted', [
    [indicator('5', figures('')) + indicator('1', figures('value="1"')) + indicator('', figures('value="1"'))],
    [indicator('5', figures('value=""')), ...found((name) => `expected no value on a qualitative ${name}, got one`)],
  ])
  const reference = '<reference/>'
  testRule('result-reference-at-both-levels', [
    [`<result>${reference}<indicator/></result>`],
    [`<result><indicator>${reference}</indicator></result>`],
    [
      `<result>${reference}<indicator/><indicator>${reference}${reference}</indicator></result>`,
      '/result/indicator[2]/reference[1]: expected a reference on the result or on its indicators, got both',
    ],
  ])
})
