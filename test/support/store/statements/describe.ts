import type pg from 'pg'

/** A column of a statement's rows, as PostgreSQL describes it. */
export type Column = {
  /** As our connections name it. */
  readonly name: string
  /** The name of its type, such as `int8`. */
  readonly type: string
  /** Whether a value of it may be null, where the schema or the plan tells. */
  readonly null: 'never' | 'possible' | 'unknown'
}

type Field = { readonly name: string; readonly tableID: number; readonly columnID: number; readonly dataTypeID: number }

type Plan = {
  readonly 'Node Type': string
  readonly Output?: readonly string[]
  readonly Alias?: string
  readonly 'Join Type'?: string
  readonly 'Parent Relationship'?: string
  readonly Strategy?: string
  readonly Plans?: readonly Plan[]
} & { readonly [condition in (typeof conditions)[number]]?: string }

const conditions = ['Filter', 'Index Cond', 'Recheck Cond', 'Hash Cond', 'Merge Cond', 'Join Filter'] as const

/** The columns of the statement's rows; it is parsed and planned, and not executed. */
export async function describeStatement(client: pg.Client, text: string): Promise<Column[]> {
  const { fields, parameters } = await describe(client, text)
  if (fields.length === 0) return []
  const [plan, types, notNull] = [
    await planOf(client, text, parameters),
    await client.query<{ oid: number; typname: string }>('select oid, typname from pg_type where oid = any ($1)', [
      fields.map(({ dataTypeID }) => dataTypeID),
    ]),
    await client.query<{ key: string }>(
      `select attrelid || ' ' || attnum as key from pg_attribute where attrelid = any ($1) and attnotnull`,
      [fields.map(({ tableID }) => tableID)],
    ),
  ]
  const typeOf = new Map(types.rows.map(({ oid, typname }) => [oid, typname]))
  const required = new Set(notNull.rows.map(({ key }) => key))
  const compared = plan['Node Type'] === 'ModifyTable' ? [] : comparedColumns(plan)
  // A plan of one table names its columns without it.
  const isCompared = (column: string) => compared.some((one) => one === column || one.endsWith(`.${column}`))
  const whole = aggregatesAll(plan)
  const { outer, any } = nullableSides(plan)
  return fields.map((field, index) => {
    const output = plan.Output?.[index] ?? ''
    const alias = /^(\w+|"[^"]+")\./.exec(output)?.[1]?.replaceAll('"', '')
    return {
      name: field.name.replace(/\B_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      type: typeOf.get(field.dataTypeID) ?? String(field.dataTypeID),
      null: nullness(),
    }
    function nullness(): Column['null'] {
      if (field.tableID === 0) return isNullable(output, whole) ? 'possible' : 'unknown'
      if (alias !== undefined && outer.has(alias)) return 'possible'
      if (!required.has(`${field.tableID} ${field.columnID}`)) return isCompared(output) ? 'unknown' : 'possible'
      return any ? 'unknown' : 'never'
    }
  })
}

/** Asks the server for parameters and columns of the statement. */
async function describe(client: pg.Client, text: string): Promise<{ fields: Field[]; parameters: number }> {
  let fields: Field[] = []
  let parameters = 0
  await new Promise<void>((resolve, reject) => {
    client.query({
      submit(connection: Connection) {
        connection.once('parameterDescription', (message) => {
          parameters = message.parameterCount ?? 0
        })
        connection.parse({ name: '', text, types: [] }, true)
        connection.describe({ type: 'S', name: '' }, true)
        connection.sync()
      },
      handleRowDescription(message: { fields: Field[] }) {
        fields = message.fields
      },
      handleError: reject,
      handleReadyForQuery: () => resolve(),
    } as unknown as pg.Submittable)
  })
  return { fields, parameters }
}

type Connection = {
  once(event: 'parameterDescription', listener: (message: { parameterCount?: number }) => void): void
  parse(query: { name: string; text: string; types: number[] }, more: boolean): void
  describe(what: { type: 'S'; name: string }, more: boolean): void
  sync(): void
}

async function planOf(client: pg.Client, text: string, parameters: number): Promise<Plan> {
  await client.query(`prepare described as ${text}`)
  try {
    const values = parameters === 0 ? '' : `(${Array.from({ length: parameters }, () => 'null').join(', ')})`
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
      `explain (verbose, costs off, format json) execute described ${values}`,
    )
    if (!rows[0]) throw new Error('no plan')
    return rows[0]['QUERY PLAN'][0].Plan
  } finally {
    await client.query('deallocate described')
  }
}

/** Aliases on the side of an outer join that may be absent, among the nodes whose columns the top node gives. */
function nullableSides(plan: Plan): { outer: ReadonlySet<string>; any: boolean } {
  const outer = new Set<string>()
  let any = false
  const visit = (node: Plan, absent: boolean): void => {
    if (node.Alias !== undefined && absent) outer.add(node.Alias)
    const join = node['Join Type']
    for (const child of node.Plans ?? []) {
      const side = child['Parent Relationship']
      const mayLack = join === 'Full' || (join === 'Left' && side === 'Inner') || (join === 'Right' && side === 'Outer')
      any ||= mayLack
      visit(child, absent || mayLack)
    }
  }
  visit(plan, false)
  return { outer, any }
}

/** Columns that a condition on all rows compares with something: a row with null in one of them is left out. */
function comparedColumns(plan: Plan): string[] {
  const all = conditions.map((name) => plan[name] ?? '').join(' AND ')
  // What stands beside an OR may be true without it.
  const certain = all.split(' AND ').filter((part) => !/ OR |CASE|COALESCE|IS DISTINCT/.test(part))
  const columns = certain.flatMap((part) => [
    ...[...part.matchAll(/([\w.]+)(?:::\w+)? (?:[=<>]+|IS NOT NULL)/g)].map(([, column]) => column ?? ''),
    ...[...part.matchAll(/[=<>] ([\w.]+)/g)].map(([, column]) => column ?? ''),
  ])
  return [...columns, ...(plan.Plans ?? []).flatMap(comparedColumns)]
}

/** Whether the rows are one aggregate of all rows, which may be none. */
function aggregatesAll(plan: Plan): boolean {
  for (let node: Plan | undefined = plan; node; node = node.Plans?.[0]) {
    if (node['Node Type'] === 'Aggregate') return node.Strategy === 'Plain'
    if (!['Limit', 'Sort', 'Result', 'Subquery Scan'].includes(node['Node Type'])) return false
  }
  return false
}

function isNullable(output: string, aggregated: boolean): boolean {
  if (/^NULLIF\(|^NULL::|ELSE NULL::[\w ]+(\[\])? END\)?$|->> '\w+'::text\)$/.test(output)) return true
  return aggregated && /^\(?(max|min|sum|avg|string_agg|array_agg|jsonb?_agg)\([^()]*\)/.test(output)
}
