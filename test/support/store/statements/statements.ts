import path from 'node:path'
import ts from 'typescript'
import { projectRoot } from '../../documents/how-to.js'
import { Evaluator } from './evaluate.js'

/** One call of `Db.query`. */
export type Statement = {
  /** File and function, which stay when lines move. */
  readonly place: string
  readonly line: number
  /** The texts that it may have; none when they are not known before the program runs, for the reason in `unknown`. */
  readonly texts: readonly string[]
  readonly unknown?: string
  /** The members that its rows are said to have; several lists where the type is a union of rows. */
  readonly rows: readonly (readonly Member[])[]
  /** What the rows are said to be, when that is no list of members. */
  readonly opaque?: string
}

/** A member of a row's type. */
export type Member = {
  readonly name: string
  readonly optional: boolean
  readonly undefined: boolean
  /** What its values may be: `text`, `number`, `boolean`, `Date`, `Buffer`, `text[]`, ..., `object`, `unknown`. */
  readonly kinds: readonly string[]
}

/** Every call of `Db.query` in the program. */
export function listStatements(): Statement[] {
  const config = ts.readConfigFile(path.join(projectRoot, 'tsconfig.build.json'), ts.sys.readFile)
  const { options, fileNames } = ts.parseJsonConfigFileContent(config.config, ts.sys, projectRoot)
  const program = ts.createProgram(fileNames, options, withoutPackages(options))
  const checker = program.getTypeChecker()
  const files = program.getSourceFiles().filter((file) => !file.isDeclarationFile)
  const calls = new Map<string, ts.CallExpression[]>()
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node)) {
      const callee = ts.isPropertyAccessExpression(node.expression) ? node.expression.name : node.expression
      const known = calls.get(callee.getText())
      if (known) known.push(node)
      else calls.set(callee.getText(), [node])
    }
    ts.forEachChild(node, visit)
  }
  for (const file of files) visit(file)
  const queries = (calls.get('query') ?? []).filter(
    ({ expression }) =>
      ts.isPropertyAccessExpression(expression) &&
      checker.getTypeAtLocation(expression.expression).aliasSymbol?.name === 'Db',
  )
  const evaluator = new Evaluator(checker, calls)
  return queries.map((call) => toStatement(call, evaluator, checker))
}

/** Reads none of the packages that the program imports: no row has a type of theirs, and most of the time would be theirs. */
function withoutPackages(options: ts.CompilerOptions): ts.CompilerHost {
  const host = ts.createCompilerHost(options)
  host.resolveModuleNameLiterals = (names, file) =>
    names.map(({ text }) => ({
      resolvedModule: text.startsWith('.') ? ts.resolveModuleName(text, file, options, host).resolvedModule : undefined,
    }))
  return host
}

function toStatement(call: ts.CallExpression, evaluator: Evaluator, checker: ts.TypeChecker): Statement {
  const file = call.getSourceFile()
  const text = call.arguments[0]
  if (!text) throw new Error('a query without a text')
  const found = evaluator.textsOf(text)
  const row = rowOf(call, checker)
  const isOpaque =
    row.flags & (ts.TypeFlags.TypeParameter | ts.TypeFlags.Any) || checker.getIndexInfosOfType(row).length > 0
  return {
    place: `${path.relative(projectRoot, file.fileName).replaceAll('\\', '/')} ${ownerOf(call)}`,
    line: file.getLineAndCharacterOfPosition(call.getStart()).line + 1,
    texts: 'texts' in found ? found.texts : [],
    ...('unknown' in found && { unknown: found.unknown }),
    ...(isOpaque && { opaque: checker.typeToString(row) }),
    rows: isOpaque
      ? []
      : (row.isUnion() ? row.types : [row]).map((one) =>
          one.getProperties().map((property) => toMember(property, call, checker)),
        ),
  }
}

/** The type of the rows that the call promises. */
function rowOf(call: ts.CallExpression, checker: ts.TypeChecker): ts.Type {
  const rows = checker.getAwaitedType(checker.getTypeAtLocation(call))?.getProperty('rows')
  const row = rows && checker.getIndexTypeOfType(checker.getTypeOfSymbolAtLocation(rows, call), ts.IndexKind.Number)
  if (!row) throw new Error(`no rows: ${call.getText()}`)
  return row
}

/** The function in which the node stands. */
function ownerOf(node: ts.Node): string {
  let name = ''
  for (let at: ts.Node = node; !ts.isSourceFile(at); at = at.parent) {
    if (ts.isFunctionDeclaration(at) || ts.isMethodDeclaration(at)) name = at.name?.getText() ?? name
    else if (ts.isVariableDeclaration(at) && at.initializer && ts.isArrowFunction(at.initializer))
      name = at.name.getText()
  }
  return name
}

function toMember(property: ts.Symbol, at: ts.Node, checker: ts.TypeChecker): Member {
  const type = checker.getTypeOfSymbolAtLocation(property, at)
  const parts = type.isUnion() ? type.types : [type]
  const has = (flags: ts.TypeFlags) => parts.some((part) => (part.flags & flags) !== 0)
  const optional = (property.flags & ts.SymbolFlags.Optional) !== 0
  const values = parts.filter((part) => (part.flags & (ts.TypeFlags.Null | ts.TypeFlags.Undefined)) === 0)
  return {
    name: property.name,
    optional,
    undefined: optional || has(ts.TypeFlags.Undefined | ts.TypeFlags.Unknown),
    kinds: [...new Set(values.map((part) => kindOf(part, checker)))],
  }
}

function kindOf(type: ts.Type, checker: ts.TypeChecker): string {
  if (type.flags & ts.TypeFlags.Unknown) return 'unknown'
  // A brand is an intersection with what it brands.
  const base = type.isIntersection() ? (type.types.find((part) => part.flags & primitive) ?? type) : type
  if (base.flags & ts.TypeFlags.StringLike) return 'text'
  if (base.flags & ts.TypeFlags.NumberLike) return 'number'
  if (base.flags & ts.TypeFlags.BooleanLike) return 'boolean'
  const name = type.symbol?.name
  if (name === 'Date' || name === 'Buffer') return name
  const element = checker.isArrayType(type) ? checker.getIndexTypeOfType(type, ts.IndexKind.Number) : undefined
  if (element) return `${kindOf(element, checker)}[]`
  if (type.isUnion()) return [...new Set(type.types.map((part) => kindOf(part, checker)))].join('|')
  return 'object'
}

const primitive = ts.TypeFlags.StringLike | ts.TypeFlags.NumberLike | ts.TypeFlags.BooleanLike
