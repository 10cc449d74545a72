import { element } from '../../../../src/kernel/xml/element.js'
import { narrative, period } from '../iati-records.js'
import { child, type Mutant } from './mutant.js'
/** A result with one figure. */
export const figure = (measure: string, name: string, attributes: Record<string, string>) => {
  const shown = element(name, name === 'baseline' ? { year: '2025', ...attributes } : attributes)
  return element('result', { type: '1' }, [
    element('title', {}, [narrative('Result')]),
    element('indicator', { measure }, [
      element('title', {}, [narrative('Indicator')]),
      name === 'baseline' ? shown : undefined,
      name === 'baseline' ? undefined : element('period', {}, [...period('2025-01-01', '2025-12-31'), shown]),
    ]),
  ])
}

/** Rules about the figures of results. */
export const resultMutants: readonly Mutant[] = ['baseline', 'target', 'actual'].flatMap((name, index) => {
  const ids = ['8.8', '8.9', '8.10'][index] ?? ''
  return [
    ...['1', '2', '3', '4'].map((measure) =>
      child(`${ids}.1`, 'result-value-missing', `a ${name} of measure ${measure} without value`, (bad) =>
        figure(measure, name, bad ? {} : { value: '1' }),
      ),
    ),
    ...['three', '+5', '1e3', '', '1,5'].map((text) =>
      child(`${ids}.2`, 'result-value-not-number', `a ${name} of ${JSON.stringify(text)}`, (bad) =>
        figure('1', name, { value: bad ? text : '-1.50' }),
      ),
    ),
    child(`${ids}.3`, 'result-value-unwanted', `a qualitative ${name} with a value`, (bad) =>
      figure('5', name, bad ? { value: '1' } : {}),
    ),
  ]
})
