import type { ImportSummary } from '../../../catalogue/import/import-summary.js'
import { findKind, kinds } from '../../../catalogue/import/kinds.js'
import { datePatterns } from '../../../catalogue/import/number-notation.js'
import { sumsByKind } from '../../../catalogue/import/receipt.js'
import { toText } from '../../../catalogue/import/refused-rows.js'
import type { TriedImport } from '../../../catalogue/import/try-import.js'
import type { ImportDetails } from '../../../catalogue/sql/imports.js'
import type { Recipe } from '../../../catalogue/sql/reading.js'
import { type Html, html } from '../../../http/pages/html.js'
import { grouped } from '../../../kernel/money.js'
import { type ColumnChoice, columnChoices, constantsOf, formName, isImportable, isSameRecipe } from '../recipe-form.js'
import type { UploadProgress } from '../upload-work.js'
import type { Upload, UploadLimits } from '../uploads.js'
import { listed, shownBytes, type Value } from './frame.js'

/** What the form that sends files needs. */
export type Sending = {
  readonly token: string
  readonly address: string
  readonly limits: UploadLimits
  /** Who signed in; undefined: the page asks for the name. */
  readonly operator: string | undefined
  readonly waiting: readonly Upload[]
  readonly recipes: readonly string[]
}

/** The form that sends files, and the files that wait. */
export function sendingForm({ token, address, limits, operator, waiting, recipes }: Sending): Html {
  const most = Math.floor(limits.bytes / 1_048_576)
  return html`<form class="action" method="post" enctype="multipart/form-data" action="${address}">
<input type="hidden" name="token" value="${token}">
${nameField(operator, undefined)}<div><label for="named">Read by</label><select id="named" name="named"><option value="">what is guessed</option>${recipes.map((name) => option(name, name, undefined))}</select></div>
<div><label for="recipe">A recipe that somebody gave you (JSON), if any</label><input id="recipe" name="recipe" type="file" accept=".json"></div>
<div><label for="file">Files with projects, organisations, gifts or reports: CSV, Excel, NDJSON or XML, at most ${String(most)} MB each</label><input id="file" name="file" type="file" multiple required></div>
<button>Look at these files</button>
</form>
<p class="path">Nothing is stored before you have seen it. A file that was sent is gone after a day.</p>
${waiting.length === 0 ? undefined : listed('Files that wait', ['File', 'Taken for', 'Size'], waiting.map(waitingRow), 2)}`
}

function waitingRow({ id, name, bytes, recipe, broken }: Upload): Value[] {
  return [html`<a href="/imports/uploads/${id}">${name}</a>`, broken ?? recipe?.kind, shownBytes(bytes)]
}

function nameField(operator: string | undefined, value: string | undefined): Html {
  return operator === undefined
    ? html`<div><label for="name">Your name, for the audit trail</label><input id="name" name="name" value="${value}" required maxlength="40" autocomplete="username"></div>\n`
    : html``
}

/** What is shown while a file is worked on. */
export function workingPage({ name }: Upload, { what, records }: UploadProgress): Html {
  return html`<p class="lead">${name} ${what}: ${records} records so far. This page is read again by itself.</p>
<p><a href="">Read again</a></p>`
}

type UploadView = {
  readonly upload: Upload
  readonly token: string
  readonly operator: string | undefined
  readonly others: readonly Upload[]
  readonly recipes: readonly string[]
  /** The import that was done just before. */
  readonly after: ImportDetails | undefined
  /** Where its refused rows are. */
  readonly refused: string | undefined
}

/** What a file is taken for, the choices of how it is read, and what an import by these choices would do. */
export function uploadPage({ upload, token, operator, others, recipes, after, refused }: UploadView): Html[] {
  const { look, recipe = {}, tried, broken, bytes } = upload
  const kind = recipe.kind
  const result = tried?.result
  // Once a person has chosen, the problems say what is left.
  const isGuess = look !== undefined && isSameRecipe(recipe, look.recipe)
  return [
    html`${after && doneBefore(after)}
<p class="lead">${broken === undefined ? (kind === undefined ? 'Say what its rows are.' : `Read as ${kind}. Nothing is stored until you import it.`) : `It cannot be read: ${broken}`}</p>
<p class="path">${shownBytes(bytes)}.${others.length > 0 ? ` These wait too: ${others.map(({ name }) => name).join(', ')}.` : undefined}</p>
${isGuess && look.open.length > 0 ? html`<div class="needs"><p>To be said by you:</p><ul>${look.open.map((one) => html`<li>${one}</li>`)}</ul></div>` : undefined}
<form method="post" id="choices">
<input type="hidden" name="token" value="${token}">
${nameField(operator, upload.by)}${look && html`<div class="filters">${kindField(upload)}${sheetField(upload)}${look.columns && notationFields(recipe)}${look.columns && namedField(recipes)}</div>`}
${look?.columns && kind !== undefined ? columnFields(columnChoices(look.columns, recipe), recipe) : undefined}
<p>${look ? html`<button name="do" value="look">See what these choices do</button> ` : undefined}<button name="do" value="remove">Remove this file</button></p>
</form>`,
    html`${look && look.reasons.length > 0 ? html`<details><summary>Why it is taken for this</summary><dl class="facts">${look.reasons.map(({ member, why }) => html`<dt>${member}</dt><dd>${why}</dd>\n`)}</dl></details>` : undefined}`,
    html`${result && ('broken' in result ? html`<p class="needs">By these choices it cannot be read: ${result.broken}</p>` : triedResult(result, refused))}`,
    isImportable(upload)
      ? html`<p><button form="choices" name="do" value="import">Import it</button></p>
<div class="filters"><div><label for="as">Keep these choices as a recipe with the name</label><input form="choices" id="as" name="as" maxlength="63" placeholder="gifts-of-our-office"></div><div><button form="choices" name="do" value="save">Keep the recipe</button></div></div>`
      : html``,
  ]
}

function doneBefore({ id, created, changed, unchanged, refused, receipt }: ImportDetails): Html {
  const counts = `${created} created, ${changed} changed, ${unchanged} unchanged, ${refused} refused`
  const sums = (receipt ? sumsByKind(receipt) : []).map(
    ({ currency, kind, taken, file }) => `${kind}: ${taken} of ${file} ${currency}`,
  )
  return html`<div class="panel"><p><a href="/imports/${String(id)}">Import ${String(id)}</a> is done: ${[counts, ...sums].join('; ')}.</p></div>`
}

function kindField({ recipe, look }: Upload): Html {
  const known = kinds.map(({ name }): string => name)
  const kind = recipe?.kind ?? ''
  // What a document says of itself is no choice.
  if (!look?.columns && !findKind(kind)) return html``
  const names = known.includes(kind) ? known : ['', ...known]
  return html`<div><label for="kind">Its rows are</label><select id="kind" name="kind">${names.map((name) => option(name, name === '' ? 'to be chosen' : name, kind))}</select></div>`
}

function sheetField({ look, recipe }: Upload): Html | undefined {
  if (!look?.sheets) return undefined
  const chosen = recipe?.sheet ?? look.sheets[0]
  return html`<div><label for="sheet">Sheet</label><select id="sheet" name="sheet">${look.sheets.map((name) => option(name, name, chosen))}</select></div>`
}

function option(value: string, text: string, chosen: string | undefined): Html {
  return html`<option value="${value}"${value === chosen ? html` selected` : undefined}>${text}</option>`
}

const encodings = ['utf-8', 'windows-1252', 'utf-16le', 'macintosh', 'windows-1250', 'windows-1251']

function notationFields(recipe: Recipe): Html {
  const { decimal, date, encoding } = recipe
  const choice = (name: string, label: string, values: readonly (readonly [string, string])[], chosen = '') => {
    const all = values.some(([value]) => value === chosen) ? values : [...values, [chosen, chosen] as const]
    return html`<div><label for="${name}">${label}</label><select id="${name}" name="${name}">${all.map(([value, text]) => option(value, text, chosen))}</select></div>`
  }
  const same = (values: readonly string[]) => values.map((value) => [value, value] as const)
  return html`${choice(
    'decimal',
    'Numbers',
    [
      ['', '1234.50'],
      ['point', '1,234.50'],
      ['comma', '1.234,50'],
      ['cents', '123450 (cents)'],
    ],
    decimal,
  )}
${choice('date', 'Days', [['', '2026-11-21'], ...same(datePatterns)], date)}
${choice('encoding', 'Encoding', [['', 'as the file says'], ...same(encodings)], encoding)}`
}

function namedField(recipes: readonly string[]): Html {
  return html`<div><label for="named">Or read by a recipe</label><select id="named" name="named"><option value="">these choices</option>${recipes.map((name) => option(name, name, undefined))}</select></div>`
}

function columnFields(choices: readonly ColumnChoice[], recipe: Recipe): Html {
  const fields = findKind(recipe.kind ?? '')?.fields ?? {}
  const names = Object.keys(fields)
  const rows = choices.map(({ column, field, isFilledDown }, at) => {
    const fill =
      isFilledDown === undefined
        ? undefined
        : html`<input type="hidden" name="${formName.fill(at)}" value=""><label><input type="checkbox" name="${formName.fill(at)}" value="yes"${isFilledDown ? html` checked` : undefined}> empty cells have the value above</label>`
    return [
      html`<span id="c${String(at)}">${column.name}</span>`,
      column.examples.join(' · '),
      html`<select name="${formName.column(at)}" aria-labelledby="c${String(at)}">${option('', 'left out', field)}${(field === '' || names.includes(field) ? names : [field, ...names]).map((name) => option(name, fields[name]?.required ? `${name} (needed)` : name, field))}</select>${fill}`,
    ]
  })
  const values = choices.flatMap(({ column, values: odd = [], choices: known = [] }, at) =>
    odd.map(({ value, means }, index) => [
      html`<span id="v${String(at)}-${String(index)}">${column.name}: ${value}</span>`,
      html`<select name="${formName.value(at, index)}" aria-labelledby="v${String(at)}-${String(index)}">${option('', 'not known: its rows are refused', means)}${known.map((one) => option(one, one, means))}</select>`,
    ]),
  )
  const counting = choices.flatMap(({ column, rows: some }, at) =>
    some
      ? [
          html`<fieldset><legend>Rows that count, by ${column.name}</legend><input type="hidden" name="${formName.rows(at)}" value="">${some.map(({ value, counts }, index) => html`<label><input type="checkbox" name="${formName.rows(at)}" value="${String(index)}"${counts ? html` checked` : undefined}> ${value === '' ? 'empty' : value}</label>`)}</fieldset>`,
        ]
      : [],
  )
  const constants = constantsOf(recipe).map(
    ({ field, value, isNeeded }) =>
      html`<div><label for="k-${field}">${field} of all rows${isNeeded && value === '' ? ', since no column has it' : undefined}</label><input id="k-${field}" name="${formName.constant(field)}" value="${value}" maxlength="200"></div>`,
  )
  return html`${listed('Columns', ['Column', 'Such as', 'Is'], rows)}
${values.length > 0 ? listed('Values', ['Value', 'Means'], values) : undefined}
${counting}
${constants.length > 0 ? html`<div class="filters">${constants}</div>` : undefined}`
}

const mostCells = 12

function triedResult({ records, summary }: TriedImport, refused: string | undefined): Html {
  const names = [...new Set(records.flatMap(({ fields }) => Object.keys(fields)))].slice(0, mostCells)
  return html`<h2>What an import would do</h2>
<p class="sentence">${countsOf(summary)}</p>
${listed(
  `The first ${records.length} records as they would be stored`,
  ['Line', ...names],
  records.map(({ line, fields }) => [
    String(line),
    ...names.map((name) => (fields[name] === undefined ? undefined : String(fields[name]))),
  ]),
)}
${leftOut(summary)}
${problemGroups(summary)}
${refused === undefined ? undefined : html`<p><a href="${refused}" download>The refused rows, each with its reason</a>: fix them and send them again.</p>`}
${sumsTable(summary)}`
}

function countsOf({ records, created, changed, unchanged, refused }: ImportSummary): string {
  return `${records} records: ${created} would be created, ${changed} changed, ${unchanged} stay as they are, ${refused} are refused.`
}

function leftOut({ leftOut: rows }: ImportSummary): Html | undefined {
  if (!rows) return undefined
  return listed('Rows that are left out', ['Why', 'Rows'], Object.entries(rows), 1)
}

const mostGroups = 50

function problemGroups({ groups, problems }: ImportSummary): Html {
  const ofFile = problems.filter(({ field }) => field === 'file')
  const rows = groups
    .slice(0, mostGroups)
    .map(({ field, expected, count, examples }) => [
      field,
      expected,
      examples.map(({ line, got }) => `${line === undefined ? '' : `line ${line}: `}${got ?? 'nothing'}`).join('; '),
      count,
    ])
  return html`${ofFile.map((one) => html`<p class="needs">${toText(one)}</p>`)}${listed('Problems', ['Field', 'Expected', 'Such as', 'Rows'], rows, 3)}`
}

function sumsTable({ receipt }: ImportSummary): Html | undefined {
  const rows = (receipt ? sumsByKind(receipt) : []).map(
    ({ currency, kind, file, taken, refused, leftOut: left, before, after }) => [
      ...[kind, currency],
      ...[file, taken, refused, left, before, after].map((sum) => sum && grouped(sum)),
    ],
  )
  if (rows.length === 0) return undefined
  const heads = ['Kind', 'Currency', 'In the file', 'Taken', 'Refused', 'Left out', 'In the store before', 'Afterwards']
  return listed('Money', heads, rows, 2)
}
