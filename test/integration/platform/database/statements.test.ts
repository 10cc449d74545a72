import pg from 'pg'
import { afterAll, expect, it } from 'vitest'
import { testDatabase } from '../../../support/store/database.js'
import { compareRows, kinds, unusedMembers } from '../../../support/store/statements/compare.js'
import { type Column, describeStatement } from '../../../support/store/statements/describe.js'
import { listStatements, type Member, type Statement } from '../../../support/store/statements/statements.js'

/**
 * Statements whose text or row cannot be told from the sources, with the reason. This list may only shrink: build a
 * statement from constants, or give its row a type of named members.
 */
const untold: Readonly<Record<string, string>> = {
  'src/platform/database/restore.ts writeTables': 'names the tables of the catalogue; the statements have no rows',
  'src/platform/database/store.ts besideSnapshot': 'the server names the snapshot; the statement has no rows',
  'src/platform/database/writer-role.ts grantColumns': 'the server writes the statement; it has no rows',
  'src/platform/database/writer-role.ts createRole': 'the server writes the statement; it has no rows',
  'src/platform/database/backup.ts lastNumbers': 'reads each sequence by its name in the catalogue',
  'src/platform/database/migrate.ts applyAll': 'migrations are files; they have no rows',
  'src/platform/database/migrate.ts applyOnce': 'migrations are files; they have no rows',
  'src/catalogue/sql/clear-columns.ts clearColumns': 'the fields of a kind name the columns; the row is the id',
  'src/catalogue/sql/export/table-resource.ts insertRecords': 'the columns of the schema make it; it has no rows',
  'src/catalogue/sql/imports.ts refusedBy': 'the database names the table whose constraint refused',
  'src/extensions/bulk/sql/bulk-texts.ts bulkContents': 'two columns for each of the files, which are numbered',
}

/** Statements of which the sources tell more texts than there are, with the reason; some name a column of another table. */
const mixed: Readonly<Record<string, string>> = {
  'src/catalogue/sql/replace-rows.ts replaceRows': 'the owner and the columns go with the table; it has no rows',
}
const undefinedColumn = '42703'

/** Columns that may be null for all that the schema says, with why they are not. This list may only shrink. */
const neverNull: Readonly<Record<string, string>> = {
  'src/accounts/sql/account-codes.ts claimDueCode email': 'only an invitation has none, and it is not mailed',
  'src/catalogue/sql/imports.ts filesWithMark sha256': 'each file of an import has one',
  'src/money/sql/charge-states.ts acceptDifference difference': 'the condition of the update excludes null',
  'src/money/sql/donation-outcomes.ts recordSettlements receiptNumber': 'the statement has just written it',
  'src/money/sql/donation-outcomes.ts recordSettlements settledAt': 'the statement has just written it',
  'src/money/sql/receipt-mails.ts claimReceiptMail receiptNumber': 'a donation that settled has one',
  'src/money/sql/receipt-mails.ts claimReceiptMail settledAt': 'a donation that settled has one',
  'src/money/sql/webhook-events.ts claimDueCharge chargeId': 'only an event with a charge is ever due',
  'src/money/sql/imported-gifts.ts knownGifts kind': 'read where isWhole alone, and such a gift has one',
  'src/money/sql/imported-gifts.ts removeGift kind': 'read where isWhole alone, and such a gift has one',
  'src/release/sql/segments.ts textsWithoutRows contentHash': 'a rendering with a text has one',
  'src/work/sql/leases.ts claimRun startedAt': 'the statement has just written it',
  'src/work/sql/shards.ts takeOthersShard startedAt': 'a running run has started',
}

const { url } = await testDatabase()
const client = new pg.Client({ connectionString: url })
await client.connect()
// A plan for any values of the parameters.
await client.query('set plan_cache_mode = force_generic_plan')
const statements = listStatements()
// Other statements read the temporary tables that these make.
for (const text of statements.flatMap(({ texts }) => texts).filter(isTemporary)) {
  await client.query(text.replace(' on commit drop', ''))
}

afterAll(async () => await client.end())

function isTemporary(text: string): boolean {
  return /^\s*create temp/.test(text)
}

/** Whether PostgreSQL cannot prepare such a statement; it has no rows. */
function isUtility(text: string): boolean {
  return (
    isTemporary(text) ||
    /^\s*(?:begin|commit|rollback|savepoint|release part|set|listen|create table|lock)\b/.test(text)
  )
}

it('rows of every statement have the columns and types that the program expects', async () => {
  const found: string[] = []
  for (const statement of statements) {
    const texts: Column[][] = []
    const problems = new Set<string>()
    for (const text of statement.texts.filter((one) => !isUtility(one))) {
      const columns = await describeStatement(client, text).catch((error: Error & { code?: string }) => {
        if (error.code === undefinedColumn && statement.place in mixed) return []
        throw new Error(`${statement.place}: ${error.message}\n${text}`, { cause: error })
      })
      texts.push(columns)
      for (const problem of compareRows(statement, columns)) problems.add(problem)
    }
    if (texts.length > 0) for (const problem of unusedMembers(statement, texts)) problems.add(problem)
    for (const problem of problems) found.push(`${statement.place} ${problem}`)
  }
  const expected = Object.keys(neverNull).map((column) => `${column}: may be null`)
  expect([...new Set(found)].sort()).toEqual(expected.sort())
})

it('the text of every statement is told from the sources, but for a list of them', () => {
  const found = statements.filter(({ unknown, opaque }) => unknown !== undefined || opaque !== undefined)
  const unlisted = found.filter(({ place }) => untold[place] === undefined)
  const reasons = unlisted.map(({ place, unknown, opaque }) => `${place}: ${unknown ?? opaque}`)
  expect(
    reasons,
    'statements that are put together from what is known only as the program runs: write them as one text',
  ).toEqual([])
  const places = new Set(found.map(({ place }) => place))
  expect(
    Object.keys(untold).filter((place) => !places.has(place)),
    'listed, and told by now',
  ).toEqual([])
  expect(statements.length).toBeGreaterThan(350)
})

it('connections make of each type what the comparison takes it for', async () => {
  const { store } = await testDatabase()
  const values = {
    ...{ bool: 'true', bytea: `'\\x00'`, timestamptz: `'2026-01-02T03:04:05Z'`, json: `'{}'`, jsonb: `'{}'` },
    ...{
      int2: '1',
      int4: '1',
      int8: '1',
      float4: '1',
      float8: '1',
      oid: '1',
      text: `'a'`,
      name: `'a'`,
      numeric: '1.5',
    },
    ...{ date: `'2026-01-02'`, regclass: `'run'`, _text: `'{a}'`, _int4: `'{1}'` },
  }
  const columns = Object.entries(values).map(([type, value]) => `${value}::${type} as "${type}"`)
  const { rows } = await store.db.query<Record<string, unknown>>(`select ${columns.join(', ')}`)
  const got = Object.entries(rows[0] ?? {}).map(([type, value]) => [type, kindOfValue(value)])
  expect(Object.fromEntries(got)).toEqual(kinds)
})

function kindOfValue(value: unknown): string {
  if (value instanceof Date) return 'Date'
  if (Buffer.isBuffer(value)) return 'Buffer'
  if (Array.isArray(value)) return `${kindOfValue(value[0])}[]`
  const kind = typeof value
  return kind === 'string' ? 'text' : kind === 'object' ? 'json' : kind
}

const id: Member = { name: 'id', optional: false, undefined: false, kinds: ['number'] }
const owner: Member = { name: 'owner', optional: true, undefined: true, kinds: ['text'] }

it.each<{ text: string; rows?: Member[][]; problems: string[] }>([
  { text: 'select id from run', problems: [] },
  { text: 'select attempt from run', problems: ['id: no column'] },
  { text: 'select id, attempt from run', problems: ['attempt: no member'] },
  { text: 'select id::text as id from run', problems: ['id: text is text, not number'] },
  { text: 'select release_id as id from run', problems: ['id: text is text, not number', 'id: may be null'] },
  { text: 'select max(losses) as id from run', problems: ['id: may be null'] },
  { text: 'select max(id) as id from run group by state', problems: [] },
  { text: 'select nullif(id, 1) as id from run', problems: ['id: may be null'] },
  { text: 'select r.id from sync_run s left join run r on r.id = s.id', problems: ['id: may be null'] },
  { text: 'select r.id from sync_run s left join run r on r.id = s.id where r.attempt > 1', problems: [] },
  { text: 'select losses + 1 as id from run where id = $1', problems: [] },
  { text: `select (outcome ->> 'held')::integer as id from run`, problems: [] },
  { text: 'select id, lease_owner as owner from run', rows: [[id, owner]], problems: [] },
  { text: `select id, lease_owner as owner from run where lease_owner > ''`, rows: [[id, owner]], problems: [] },
  { text: `update run set lease_owner = null returning id`, problems: [] },
  { text: 'select id from run', rows: [[id, owner]], problems: ['owner: no column'] },
  { text: 'select id from run', rows: [[id], [{ ...owner, optional: false }]], problems: ['owner: no column'] },
])('of $text, $problems', async ({ text, rows = [[id]], problems }) => {
  const statement: Statement = { place: 'here', line: 1, texts: [text], rows }
  const columns = await describeStatement(client, text)
  expect([...compareRows(statement, columns), ...unusedMembers(statement, [columns])]).toEqual(
    problems.includes('id: no column') ? ['id: no column', 'id: no column'] : problems,
  )
})
