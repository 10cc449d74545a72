import { expect, it } from 'vitest'
import { sqlChanges } from '../../support/program-mutants/sql-mutants.js'

function mutantsOf(statement: string, opaque: readonly string[] = []): string[] {
  const gaps = opaque.map((text) => ({ start: statement.indexOf(text), end: statement.indexOf(text) + text.length }))
  return sqlChanges(statement, gaps).map(({ start, end, replacement }) =>
    (statement.slice(0, start) + replacement + statement.slice(end)).replace(/ +/g, ' ').trim(),
  )
}

it('statements lose a condition, an outer join or an assignment, and compare otherwise', () => {
  expect(
    mutantsOf('select a from t left join u on u.id = t.id where lower(t.a) = $1 and (t.b <= 2 or t.c is null)'),
  ).toEqual([
    'select a from t join u on u.id = t.id where lower(t.a) = $1 and (t.b <= 2 or t.c is null)',
    'select a from t left join u on u.id <> t.id where lower(t.a) = $1 and (t.b <= 2 or t.c is null)',
    'select a from t left join u on u.id = t.id where (t.b <= 2 or t.c is null)',
    'select a from t left join u on u.id = t.id where lower(t.a) <> $1 and (t.b <= 2 or t.c is null)',
    'select a from t left join u on u.id = t.id where lower(t.a) = $1',
    'select a from t left join u on u.id = t.id where lower(t.a) = $1 or (t.b <= 2 or t.c is null)',
    'select a from t left join u on u.id = t.id where lower(t.a) = $1 and (t.b < 2 or t.c is null)',
    'select a from t left join u on u.id = t.id where lower(t.a) = $1 and (t.b <= 2 and t.c is null)',
    'select a from t left join u on u.id = t.id where lower(t.a) = $1 and (t.b <= 2 or t.c is not null)',
  ])
  expect(mutantsOf('update t set a = 1, b = max(c) where d between 1 and 2 returning a')).toEqual([
    'update t set b = max(c) where d between 1 and 2 returning a',
    'update t set a = 1 where d between 1 and 2 returning a',
    'update t set a = 1, b = min(c) where d between 1 and 2 returning a',
    'update t set a = 1, b = max(c) where true returning a',
  ])
})

it('what the program puts into a statement, texts and comments stay as they are', () => {
  const statement = "select '<' from t where {x > 1 ? a : b} order by a desc -- and = b"
  expect(mutantsOf(statement, ['{x > 1 ? a : b}'])).toEqual([
    "select '<' from t where true order by a desc -- and = b",
    "select '<' from t where {x > 1 ? a : b} order by a asc -- and = b",
  ])
})
