/** A small wrong change: the characters from `start` to `end` become `replacement`. */
export type Change = {
  readonly start: number
  readonly end: number
  readonly replacement: string
  readonly rule: string
}

type Token = {
  readonly kind: 'word' | 'sign' | 'other'
  /** In lower case. */
  readonly text: string
  readonly start: number
  readonly end: number
  /** How many parentheses are open. */
  readonly depth: number
}

/** What the program puts into a statement, or a text in it: one thing, whatever it contains. */
export type Opaque = { readonly start: number; readonly end: number }

const pattern = /--[^\n]*|'(?:[^']|'')*'|[a-z_][\w$]*|\d+(?:\.\d+)?|\$\d+|::|:=|<=|>=|<>|\|\||->>?|@>|[^\s]/giy

function tokenize(text: string, opaque: readonly Opaque[]): Token[] {
  const tokens: Token[] = []
  let depth = 0
  let at = 0
  while (at < text.length) {
    const gap = opaque.find(({ start, end }) => at >= start && at < end)
    if (gap) {
      tokens.push({ kind: 'other', text: '', start: gap.start, end: gap.end, depth })
      at = gap.end
      continue
    }
    pattern.lastIndex = at
    const found = pattern.exec(text)?.[0]
    if (found === undefined) {
      at++
      continue
    }
    const start = at
    at += found.length
    if (found.startsWith('--')) continue
    if (found === ')') depth--
    const kind = /^[a-z_]/i.test(found) ? 'word' : /^[<>=+-]/.test(found) ? 'sign' : 'other'
    tokens.push({ kind, text: found.toLowerCase(), start, end: at, depth })
    if (found === '(') depth++
  }
  return tokens
}

const inverse: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '<>': '=',
  '+': '-',
  '-': '+',
  min: 'max',
  max: 'min',
  greatest: 'least',
  least: 'greatest',
  true: 'false',
  false: 'true',
  asc: 'desc',
  desc: 'asc',
}

/** Words that begin what follows a condition. */
const afterCondition = new Set(
  `and or order group having limit offset returning on union except intersect for then else end when left right inner join cross
  loop window do set from where select as with using fetch`.split(/\s+/),
)
const clauses = new Set(
  'select from where on having set values when if and or filter order group returning using'.split(' '),
)
const conditions = new Set(['where', 'on', 'having', 'when', 'if', 'and', 'or', 'filter'])

/** The small wrong changes of a statement, or of a piece of one. */
export function sqlChanges(text: string, opaque: readonly Opaque[] = []): Change[] {
  const tokens = tokenize(text, opaque)
  const changes: Change[] = []
  const add = (rule: string, start: number, end: number, replacement: string) =>
    changes.push({ rule, start, end, replacement })
  tokens.forEach((token, index) => {
    const previous = tokens[index - 1]
    const next = tokens[index + 1]
    const clause = clauseOf(tokens, index)
    if (token.text === '=' && clause !== undefined && conditions.has(clause)) {
      add('comparison', token.start, token.end, '<>')
    } else if (token.text === '+' || token.text === '-') {
      const isBetween = previous && !['(', ',', '='].includes(previous.text) && previous.end < token.start
      if (isBetween) add('arithmetic', token.start, token.end, inverse[token.text] ?? '')
    } else if (token.kind === 'sign' && inverse[token.text] !== undefined) {
      add('comparison', token.start, token.end, inverse[token.text] ?? '')
    } else if (['min', 'max', 'greatest', 'least'].includes(token.text) && next?.text === '(') {
      add('aggregate', token.start, token.end, inverse[token.text] ?? '')
    } else if (['true', 'false', 'asc', 'desc'].includes(token.text)) {
      add(
        token.text.length > 4 || token.text === 'true' ? 'constant' : 'order',
        token.start,
        token.end,
        inverse[token.text] ?? '',
      )
    } else if (token.text === 'is' && next) {
      const isNot = next.text === 'not'
      add('null', next.start, isNot ? next.end + 1 : next.start, isNot ? '' : 'not ')
    } else if (token.text === 'not' && previous?.text !== 'is' && next && previous?.text !== 'if') {
      add('not dropped', token.start, next.start, '')
    } else if (token.text === 'left' && next?.text === 'join') {
      add('outer join', token.start, next.start, '')
    } else if (
      token.text === 'distinct' &&
      previous?.text !== 'is' &&
      previous?.text !== 'not' &&
      next?.text !== 'on'
    ) {
      add('distinct', token.start, token.end + 1, '')
    }
    if ((token.text === 'and' && !isBetween(tokens, index)) || token.text === 'where') {
      const end = conditionEnd(tokens, index)
      const following = tokens[end]
      const first = tokens[index + 1]
      const last = tokens[end - 1]
      if (!first || !last || end <= index + 1) return
      if (token.text === 'and') {
        add('condition dropped', token.start, last.end, '')
        add('and for or', token.start, token.end, 'or')
      } else if (following?.text === 'and') add('condition dropped', first.start, following.end, '')
      else add('condition dropped', first.start, last.end, 'true')
    }
    if (token.text === 'or' && previous?.text !== 'create' && next?.text !== 'replace')
      add('or for and', token.start, token.end, 'and')
    if (token.text === 'set') {
      for (const { start, end } of assignments(tokens, index)) add('assignment dropped', start, end, '')
    }
  })
  return changes
}

/** The clause in which a token stands. */
function clauseOf(tokens: readonly Token[], index: number): string | undefined {
  let { depth } = tokens[index] ?? { depth: 0 }
  for (let at = index - 1; at >= 0; at--) {
    const token = tokens[at]
    if (!token || token.depth > depth) continue
    depth = token.depth
    if (token.kind === 'word' && clauses.has(token.text)) return token.text
  }
  return undefined
}

/** Whether this `and` belongs to a `between`. */
function isBetween(tokens: readonly Token[], index: number): boolean {
  const depth = tokens[index]?.depth
  for (let at = index - 1; at >= 0; at--) {
    const token = tokens[at]
    if (!token || token.depth > (depth ?? 0)) continue
    if (token.depth < (depth ?? 0) || (token.kind === 'word' && afterCondition.has(token.text))) return false
    if (token.text === 'between') return true
  }
  return false
}

/** The index of the first token after the condition that begins after `index`. */
function conditionEnd(tokens: readonly Token[], index: number): number {
  const depth = tokens[index]?.depth ?? 0
  let cases = 0
  for (let at = index + 1; at < tokens.length; at++) {
    const token = tokens[at]
    if (!token || token.depth < depth) return at
    if (token.depth > depth) continue
    if (token.text === 'case') cases++
    else if (cases > 0) cases -= token.text === 'end' ? 1 : 0
    else if (token.text === ';') return at
    else if (token.text === 'from' && tokens[at - 1]?.text === 'distinct') continue
    else if (
      token.kind === 'word' &&
      afterCondition.has(token.text) &&
      !(token.text === 'and' && isBetween(tokens, at))
    )
      return at
  }
  return tokens.length
}

/** Each of several assignments after `set`, with the comma that goes with it. */
function assignments(tokens: readonly Token[], index: number): Opaque[] {
  const depth = tokens[index]?.depth ?? 0
  const commas: Token[] = []
  let end = index + 1
  for (; end < tokens.length; end++) {
    const token = tokens[end]
    if (!token || token.depth < depth || token.text === ';') break
    if (token.depth === depth && ['where', 'from', 'returning'].includes(token.text)) break
    if (token.depth === depth && token.text === ',') commas.push(token)
  }
  const first = tokens[index + 1]
  const last = tokens[end - 1]
  if (commas.length === 0 || !first || !last) return []
  return [
    { start: first.start, end: commas[0]?.end ?? first.start },
    ...commas.map((comma, at) => ({ start: comma.start, end: commas[at + 1]?.start ?? last.end })),
  ]
}
