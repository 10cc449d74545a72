import type { Kind } from '../../../src/catalogue/import/kind.js'
import { kinds } from '../../../src/catalogue/import/kinds.js'
import { namedFields } from '../../../src/kernel/nouns/field.js'
import { projectFields } from '../../../src/kernel/nouns/project.js'

/** The fields that the element `iati` of a project record states. */
function statedInElement(): string {
  const stated = namedFields(projectFields).filter(({ by, only }) => by === 'iati' && only !== 'files')
  return stated.map(({ field }) => `\`${field}\``).join(', ')
}

const heading = `# Importing files

\`giving import FILE...\` reads what a platform has into the store. All doors end in the same code: these files, plain SQL
([tables](store.md)) and the sync ([sync](../explanation/sync.md)). [Own platform](../how-to/own-platform.md) is a walk with five files.
\`giving import DIR\` puts a whole export back ([export](export.md)).

This page is written from the table of kinds (\`src/catalogue/import/kinds.ts\`) by \`npm run docs:import\`; a test compares both.

## Commands

\`\`\`sh
giving import --template projects > projects.csv     # all columns and two example rows
giving import --schema projects                      # JSON Schema 2020-12 of a line of NDJSON
giving import --dry-run themes.csv projects.csv      # what would be created, changed, left and refused; changes nothing
giving import themes.csv organizations.csv funders.csv projects.csv gifts.csv
\`\`\`

Exit code 0: all records kept; 1: some refused, or a file could not be read to its end; 2: nothing usable. Records are saved a
hundred at a time, in memory that does not grow with the file (100,000 projects in CSV, 47 MB: 160 MB at most). A record that is wrong is refused by file, line, record and field with
what was expected and what came; the others are kept. Files that cannot be read are named first. Problems that are alike stand together, the
first three of them with their lines and then their number; \`--json\` has up to 100,000, and \`problemCount\` is the number of all. An id that stands twice in a file
is named with both lines; the later one counts. To know it takes at most 48 bytes of memory for each record.

\`--problems FILE.csv\` writes all refused rows as they came, with the reason in a column \`why\`: fix the rows and import that file; the column is passed over. Of several
files each has one of its own, \`gifts.FILE.csv\` beside it. Lines of NDJSON are written as NDJSON with a member \`why\`, of other forms a table of lines and reasons.

Files may be named in any order (\`giving import *.csv\`): they are taken in the order of kinds below. The same file again changes nothing and renders nothing. A record belongs to
the source that brought it: projects and organisations that were mirrored or written with plain SQL are refused, not overwritten.

## Files

- **Kind**: \`--kind KIND\`; else the name of the file (\`gifts.csv\`, \`gifts-2025.csv\`); else its columns, where they fit one kind only.
- **CSV** as spreadsheets write it: UTF-8 or UTF-16 with or without byte order mark; commas, semicolons or tabs; any line ends;
  line breaks inside quotes. Columns in any order and letter case. Unknown columns are refused with the \`--map\` that
  says what they may be. Lines above the header are passed over. So are, with a notice, quotes that are not doubled. Refused are U+0000, a field with two columns, and cells behind the last column or below one without a name. Spaces and
  marks that nobody sees (U+200F, U+FEFF, U+00A0 and the like) are passed over beside quotes, and at the ends of values that are no texts. A
  cell with nothing else is empty. A web page (HTML) is refused as one. Numbers are plain: \`1234.50\`. With
  \`--decimal comma\` they are \`1.234,50\` or \`1234,50\`, with \`--decimal point\` \`1,234.50\` or \`1234.50\`. Without the option an
  amount such as \`25.000\`, which is 25 or 25000, is refused, unless the currency has three decimals (KWD). A cell with nothing
  but \`NULL\`, \`N/A\`, \`-\` or the like is refused where it may be a text. \`--missing empty\` says that it is left out, \`--missing text\` that it is the text.
  Amounts may have the sign or code of their currency, parentheses or a minus behind. Days are \`2026-11-21\`, with a time behind or not, or as \`--date\` says.
  A time without a zone is passed over. Below a header that ends with \`(UTC)\` it is in UTC, and the day is that of the recipe's zone, else of \`PUBLISH_TIMEZONE\`.
  An apostrophe before what a spreadsheet could take for a formula (\`'=1+1\`) is passed over: exports write it.
  Lists have \`|\` between their values, entries of lists \`:\` between their parts.
- **Archives**: \`.gz\`, and \`.zip\` with one file.
- **NDJSON**: one JSON object on each line, with the same names. Lists may be arrays, their entries objects. Numbers and texts are
  both accepted for amounts; texts keep every digit.
- **Wire format**: pages of project or organisation records in XML or JSON, as the API of this service and its upstreams answer
  them ([contract/wire.md](../contract/wire.md) 3.1, 3.3). Their element \`iati\` holds what publishing needs beyond that format:
  for a project ${statedInElement()}, for an organisation
  \`ref\` and \`type\`. A record or its organisation may have an element \`externalId\` instead of \`id\`.
- **IATI** activity and organisation files of version 2.01 to 2.03, of any size (\`--kind iati\`): [move from another
  publisher](../how-to/move-from-another-publisher.md). Each activity is kept whole; a project is made where none has its identifier.
- **Atom** (RFC 4287): feeds of progress reports. A link of the feed, or its id, is the page of the project or of its reports;
  \`--project ID\` says whose they are where no link tells.

## Ids that are no numbers

A platform whose ids are UUIDs or words puts them into \`externalId\` of projects, organisations, funders and reports, and leaves \`id\`
out. The store then gives each a number for ever, from 10000001 on, which addresses of the API and identifiers in IATI have. Every
column that names a project or an organisation (\`project\`, \`organization\`, \`funder\`, \`receiver\`) takes a number or an \`externalId\`. An
\`externalId\` is unique among the records of its table, whichever source they are from, and is never a whole number: that is an \`id\`.
A record with both is the one of its number. Plain SQL leaves \`id\` out and writes \`external_id\`. An export has both.

A field that a record leaves out becomes empty, unless it is marked *kept*: then the stored value stays. An empty cell, and in NDJSON
an empty text, leave the field out. A field that is marked *kept, -* is emptied by a cell with nothing but \`-\`, in NDJSON by \`null\`.

## Kinds

In the order in which an empty store takes them.

`

/** The text of `docs/reference/import.md`. */
export function importDocument(): string {
  return heading + kinds.map((kind: Kind) => section(kind)).join('\n')
}

function section({ name, means, notes, fields, key }: Kind): string {
  const rows = Object.entries(fields).map(([field, one]) => {
    const { type, unit, numbers, required, kept, cleared, means, examples, api, iati } = one
    const example = examples.find((text) => text !== '') ?? ''
    const needed = required ? (numbers ? 'yes, or externalId' : 'yes') : cleared ? 'kept, -' : kept ? 'kept' : 'no'
    const cells = [
      `\`${field}\``,
      unit ? `${type.name}; ${unit}` : type.name,
      needed,
      means,
      example && `\`${example}\``,
      api,
      iati,
    ]
    return `| ${cells.map((cell) => (cell ?? '').replaceAll('|', '\\|')).join(' | ')} |`
  })
  return `### ${name}

${means}${notes ? ` ${notes}` : ''}${known(key)}

| Field | Type; unit | Needed | Meaning | Example | In the API | In IATI or Atom |
|---|---|---|---|---|---|---|
${rows.join('\n')}
`
}

/** Of gifts the notes say what makes two rows the same. */
function known(key: readonly string[]): string {
  if (key.length > 2) return ''
  return ` A record is known by ${key.map((field) => `\`${field}\``).join(' and ')}.`
}
