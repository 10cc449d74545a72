import ts from 'typescript'

/** Values of variables, and of declarations of several, in one call of a function and in what it stands in. */
class Env {
  readonly #values = new Map<ts.Symbol | ts.Declaration, unknown>()
  readonly #owner: ts.Node | undefined
  readonly #outer: Env | undefined

  constructor(owner?: ts.Node, outer?: Env) {
    this.#owner = owner
    this.#outer = outer
  }

  has(key: ts.Symbol | ts.Declaration): boolean {
    return this.#values.has(key) || (this.#outer?.has(key) ?? false)
  }

  get(key: ts.Symbol | ts.Declaration): unknown {
    return this.#values.has(key) ? this.#values.get(key) : this.#outer?.get(key)
  }

  /** Keeps the value in the call of the function that the variable is declared in. */
  set(key: ts.Symbol | ts.Declaration, value: unknown, declaration: ts.Node | undefined): void {
    if (this.#outer && !isWithin(declaration, this.#owner)) this.#outer.set(key, value, declaration)
    else this.#values.set(key, value)
  }
}

function isWithin(node: ts.Node | undefined, whole: ts.Node | undefined): boolean {
  for (let at = node; at; at = at.parent) if (at === whole) return true
  return false
}

/** The value is not known before the program runs. */
class Unknown extends Error {}

/** The value depends on a choice that is not made yet: one of `count`. */
class Choice extends Error {
  readonly key: string
  readonly count: number

  constructor(key: string, count: number) {
    super(`a choice of ${count}`)
    this.key = key
    this.count = count
  }
}

/** A value of which only the type is known. */
class Opaque {
  readonly type: ts.Type | undefined
  readonly key: string
  readonly reason: string

  constructor(type: ts.Type | undefined, key: string, reason = `${key} is known only when the program runs`) {
    this.type = type
    this.key = key
    this.reason = reason
  }

  [Symbol.toPrimitive](): number {
    if (this.type && this.type.flags & ts.TypeFlags.NumberLike) return 1
    throw new Unknown(this.reason)
  }

  [Symbol.iterator](): never {
    throw new Unknown(this.reason)
  }
}

const most = 1000
const globals: Readonly<Record<string, unknown>> = { Object, Math, String, Number, Boolean, Array, JSON, Map, Set }

/**
 * The values that an expression has when the program runs: constants and pure functions are evaluated, and where a value
 * depends on the run, each possible one is tried: the members of a union of literals, the branches of a condition, the
 * elements of a list, the callers of a function.
 */
export class Evaluator {
  readonly #checker: ts.TypeChecker
  readonly #calls: ReadonlyMap<string, readonly ts.CallExpression[]>
  #choices = new Map<string, number>()

  constructor(checker: ts.TypeChecker, calls: ReadonlyMap<string, readonly ts.CallExpression[]>) {
    this.#checker = checker
    this.#calls = calls
  }

  /** Every text that the expression may be, or why that is unknown. */
  textsOf(node: ts.Expression): { readonly texts: readonly string[] } | { readonly unknown: string } {
    const texts = new Set<string>()
    const open: ReadonlyMap<string, number>[] = [new Map()]
    for (let tried = 0; open.length > 0; tried++) {
      if (tried > most) return { unknown: `more than ${most} variants` }
      this.#choices = new Map(open.pop())
      try {
        const env = new Env()
        if (this.#runUpTo(node, env)) texts.add(textOf(this.#evaluate(node, env)))
      } catch (error) {
        if (error instanceof Unknown) return { unknown: error.message }
        if (!(error instanceof Choice)) throw error
        for (let index = 0; index < error.count; index++) open.push(new Map(this.#choices).set(error.key, index))
      }
    }
    return { texts: [...texts] }
  }

  #choose<T>(key: string, values: readonly T[]): T {
    const chosen = values.length === 1 ? 0 : this.#choices.get(key)
    if (chosen === undefined) throw new Choice(key, values.length)
    return values[chosen] as T
  }

  #evaluate(node: ts.Node, env: Env): unknown {
    if (ts.isStringLiteralLike(node)) return node.text
    if (ts.isNumericLiteral(node)) return Number(node.text.replaceAll('_', ''))
    if (ts.isRegularExpressionLiteral(node)) return toRegExp(node.text)
    if (node.kind === ts.SyntaxKind.TrueKeyword) return true
    if (node.kind === ts.SyntaxKind.FalseKeyword) return false
    if (node.kind === ts.SyntaxKind.NullKeyword) return null
    if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node)) return this.#evaluate(node.expression, env)
    if (ts.isSatisfiesExpression(node) || ts.isNonNullExpression(node)) return this.#evaluate(node.expression, env)
    if (ts.isTemplateExpression(node)) return this.#template(node, env)
    if (ts.isConditionalExpression(node)) {
      return this.#evaluate(this.#holds(node.condition, env) ? node.whenTrue : node.whenFalse, env)
    }
    if (ts.isBinaryExpression(node)) return this.#binary(node, env)
    if (ts.isPrefixUnaryExpression(node)) {
      const value = this.#evaluate(node.operand, env)
      if (node.operator === ts.SyntaxKind.ExclamationToken) return !value
      if (node.operator === ts.SyntaxKind.MinusToken) return -(value as number)
    }
    if (ts.isArrayLiteralExpression(node)) return this.#list(node.elements, env)
    if (ts.isObjectLiteralExpression(node)) return this.#object(node, env)
    if (ts.isArrowFunction(node) || ts.isFunctionExpression(node) || ts.isFunctionDeclaration(node)) {
      return (...values: unknown[]) => this.#call(node, values, env)
    }
    if (ts.isNewExpression(node) || ts.isCallExpression(node)) return this.#invoke(node, env)
    return this.#ofType(node, () => {
      if (ts.isIdentifier(node)) return this.#identifier(node, env)
      if (ts.isPropertyAccessExpression(node)) {
        if (this.#isParameter(node.expression, env)) {
          const typed = this.#oneOfType(this.#checker.getTypeAtLocation(node), node.getText())
          if (!(typed instanceof Opaque)) return typed
        }
        return this.#member(this.#evaluate(node.expression, env), node.name.text, node)
      }
      if (ts.isElementAccessExpression(node)) {
        return this.#member(this.#evaluate(node.expression, env), this.#evaluate(node.argumentExpression, env), node)
      }
      throw new Unknown(`cannot evaluate ${node.getText().slice(0, 80)}`)
    })
  }

  /** The value; where it is unknown, one that its type allows. */
  #ofType(node: ts.Node, evaluate: () => unknown): unknown {
    try {
      return evaluate()
    } catch (error) {
      if (!(error instanceof Unknown || error instanceof TypeError)) throw error
      return this.#oneOfType(this.#checker.getTypeAtLocation(node), node.getText(), error.message)
    }
  }

  /** One of the literals that the type consists of, or a value of which no more than the type is known. */
  #oneOfType(type: ts.Type, key: string, reason?: string): unknown {
    const own = this.#checker.getBaseConstraintOfType(type) ?? type
    const literals = (own.isUnion() ? own.types : [own]).map((one) => {
      if (one.isStringLiteral() || one.isNumberLiteral()) return { value: one.value }
      if (one.flags & ts.TypeFlags.BooleanLiteral) return { value: this.#checker.typeToString(one) === 'true' }
      if (one.flags & ts.TypeFlags.Undefined) return { value: undefined }
      return undefined
    })
    if (!literals.every((one) => one !== undefined)) return new Opaque(own, key, reason)
    return this.#choose(key, literals).value
  }

  #member(whole: unknown, name: unknown, node: ts.Node): unknown {
    if (whole instanceof Opaque) {
      const key = `${whole.key}.${name}`
      const type = whole.type && this.#memberType(whole.type, String(name))
      return type ? this.#oneOfType(type, key, whole.reason) : new Opaque(undefined, key, whole.reason)
    }
    if (whole === undefined || whole === null) throw new Unknown(`nothing has ${node.getText().slice(0, 80)}`)
    return (whole as Record<string, unknown>)[name as string]
  }

  #memberType(type: ts.Type, name: string): ts.Type | undefined {
    const property = this.#checker.getPropertyOfType(type, name)
    return property && this.#checker.getTypeOfSymbol(property)
  }

  #holds(condition: ts.Expression, env: Env): boolean {
    try {
      const value = this.#evaluate(condition, env)
      return this.#isTrue(value)
    } catch (error) {
      if (!(error instanceof Unknown)) throw error
      return this.#choose(`if ${condition.getText()}`, [true, false])
    }
  }

  #isTrue(value: unknown): boolean {
    if (!(value instanceof Opaque)) return Boolean(value)
    if (value.type && value.type.flags & ts.TypeFlags.Object) return true
    return this.#choose(`if ${value.key}`, [true, false])
  }

  #template(node: ts.TemplateExpression, env: Env): string {
    return node.templateSpans.reduce(
      (text, { expression, literal }) => text + textOf(this.#evaluate(expression, env)) + literal.text,
      node.head.text,
    )
  }

  #binary(node: ts.BinaryExpression, env: Env): unknown {
    const left = this.#evaluate(node.left, env)
    const right = () => this.#evaluate(node.right, env)
    const isLeftTrue = () => this.#isTrue(left)
    switch (node.operatorToken.kind) {
      case ts.SyntaxKind.AmpersandAmpersandToken:
        return isLeftTrue() ? right() : left instanceof Opaque ? undefined : left
      case ts.SyntaxKind.BarBarToken:
        return isLeftTrue() ? left : right()
      case ts.SyntaxKind.QuestionQuestionToken:
        return (left instanceof Opaque ? isLeftTrue() : left !== undefined && left !== null) ? left : right()
      case ts.SyntaxKind.EqualsEqualsEqualsToken:
        return this.#equal(node, left, right())
      case ts.SyntaxKind.ExclamationEqualsEqualsToken:
        return !this.#equal(node, left, right())
      case ts.SyntaxKind.InKeyword:
        return (left as string) in known(right())
      case ts.SyntaxKind.PlusToken:
        return typeof left === 'string' ? left + textOf(right()) : Number(left) + Number(right())
      case ts.SyntaxKind.MinusToken:
        return Number(left) - Number(right())
      case ts.SyntaxKind.AsteriskToken:
        return Number(left) * Number(right())
      default:
        throw new Unknown(`cannot evaluate ${node.getText().slice(0, 80)}`)
    }
  }

  #equal(node: ts.BinaryExpression, left: unknown, right: unknown): boolean {
    if (!(left instanceof Opaque) && !(right instanceof Opaque)) return left === right
    if (left instanceof Opaque && (right === undefined || right === null)) return !this.#isTrue(left)
    const key = `if ${node.left.getText()} === ${node.right.getText()}`
    return this.#choose(key, [true, false])
  }

  #list(elements: readonly ts.Expression[], env: Env): unknown[] {
    return elements.flatMap((element) =>
      ts.isSpreadElement(element)
        ? [...(this.#evaluate(element.expression, env) as Iterable<unknown>)]
        : [this.#evaluate(element, env)],
    )
  }

  #object(node: ts.ObjectLiteralExpression, env: Env): object {
    const object: Record<string, unknown> = {}
    for (const property of node.properties) {
      if (ts.isSpreadAssignment(property)) {
        const spread = this.#evaluate(property.expression, env)
        if (spread instanceof Opaque) return new Opaque(this.#checker.getTypeAtLocation(node), node.getText())
        Object.assign(object, spread)
      } else if (ts.isPropertyAssignment(property)) {
        const name = ts.isComputedPropertyName(property.name)
          ? String(this.#evaluate(property.name.expression, env))
          : (property.name as ts.Identifier).text
        lazily(object, name, () => this.#evaluate(property.initializer, env))
      } else if (ts.isShorthandPropertyAssignment(property)) {
        const symbol = this.#checker.getShorthandAssignmentValueSymbol(property)
        lazily(object, property.name.text, () => this.#symbol(symbol, property, env))
      } else throw new Unknown(`cannot evaluate ${property.getText().slice(0, 80)}`)
    }
    return object
  }

  #identifier(node: ts.Identifier, env: Env): unknown {
    if (node.text === 'undefined') return undefined
    return this.#symbol(this.#checker.getSymbolAtLocation(node), node, env)
  }

  #symbol(found: ts.Symbol | undefined, node: ts.Node, env: Env): unknown {
    const symbol = found && found.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(found) : found
    if (symbol && env.has(symbol)) return env.get(symbol)
    const declaration = symbol?.valueDeclaration
    if (!symbol || !declaration) throw new Unknown(`cannot evaluate ${node.getText().slice(0, 80)}`)
    if (declaration.getSourceFile().isDeclarationFile) {
      if (symbol.name in globals) return globals[symbol.name]
      throw new Unknown(`cannot evaluate ${symbol.name}`)
    }
    const value = this.#declared(declaration, env)
    if (ts.isVariableDeclaration(declaration)) env.set(symbol, value, declaration)
    return value
  }

  #declared(declaration: ts.Declaration, env: Env): unknown {
    if (ts.isFunctionDeclaration(declaration)) return this.#evaluate(declaration, env)
    if (ts.isBindingElement(declaration)) {
      if (ts.isParameter(declaration.parent.parent)) {
        const typed = this.#oneOfType(this.#checker.getTypeAtLocation(declaration), declaration.name.getText())
        if (!(typed instanceof Opaque)) return typed
      }
      if (declaration.dotDotDotToken) throw new Unknown(`cannot evaluate ${declaration.getText()}`)
      const whole = this.#declared(declaration.parent.parent, env)
      const name = ts.isArrayBindingPattern(declaration.parent)
        ? declaration.parent.elements.indexOf(declaration)
        : ((declaration.propertyName ?? declaration.name) as ts.Identifier).text
      const value = this.#member(whole, name, declaration)
      return value === undefined && declaration.initializer ? this.#evaluate(declaration.initializer, env) : value
    }
    if (ts.isParameter(declaration)) return this.#argument(declaration, env)
    if (!ts.isVariableDeclaration(declaration)) throw new Unknown(`cannot evaluate ${declaration.getText()}`)
    if (env.has(declaration)) return env.get(declaration)
    if (declaration.initializer) {
      const value = this.#evaluate(declaration.initializer, env)
      env.set(declaration, value, declaration)
      return value
    }
    const loop = declaration.parent.parent
    if (!ts.isForOfStatement(loop)) throw new Unknown(`cannot evaluate ${declaration.getText()}`)
    const values = [...(this.#evaluate(loop.expression, env) as Iterable<unknown>)]
    return this.#choose(`of ${loop.pos} ${loop.getSourceFile().fileName}`, values)
  }

  /** What the callers of its function give a parameter. */
  #argument(parameter: ts.ParameterDeclaration, env: Env): unknown {
    const owner = parameter.parent
    const named = ts.isArrowFunction(owner) || ts.isFunctionExpression(owner) ? owner.parent : owner
    const name = (named as ts.NamedDeclaration).name
    const ofType = () => this.#oneOfType(this.#checker.getTypeAtLocation(parameter), parameter.name.getText())
    if (!name) return ofType()
    const symbol = this.#checker.getSymbolAtLocation(name)
    const callers = (this.#calls.get(name.getText()) ?? []).filter((call) => this.#isOf(call.expression, symbol))
    const at = owner.parameters.indexOf(parameter)
    // What callers say literally goes together with their other arguments; otherwise the type says enough.
    const isLiteral = callers.every(({ arguments: given }) => given[at] && ts.isStringLiteralLike(given[at]))
    if (callers.length === 0 || !isLiteral) {
      const typed = ofType()
      if (callers.length === 0 || !(typed instanceof Opaque)) return typed
    }
    const argument = this.#choose(`call ${name.getText()}`, callers).arguments[at]
    if (argument) return this.#evaluate(argument, env)
    return parameter.initializer && this.#evaluate(parameter.initializer, env)
  }

  #isParameter(node: ts.Expression, env: Env): boolean {
    const symbol = this.#checker.getSymbolAtLocation(node)
    return symbol?.valueDeclaration !== undefined && ts.isParameter(symbol.valueDeclaration) && !env.has(symbol)
  }

  #isOf(callee: ts.Expression, symbol: ts.Symbol | undefined): boolean {
    const found = this.#checker.getSymbolAtLocation(callee)
    const own = found && found.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(found) : found
    return own !== undefined && own === symbol
  }

  #invoke(node: ts.CallExpression | ts.NewExpression, env: Env): unknown {
    const { expression } = node
    const values = () => this.#list(node.arguments ?? [], env)
    return this.#ofType(node, () => {
      if (ts.isPropertyAccessExpression(expression)) {
        const receiver = this.#evaluate(expression.expression, env)
        const method = this.#member(receiver, expression.name.text, node)
        if (typeof method !== 'function') throw new Unknown(`cannot call ${expression.getText()}`)
        return method.apply(receiver, values())
      }
      const callee = this.#evaluate(expression, env)
      if (typeof callee !== 'function') throw new Unknown(`cannot call ${expression.getText()}`)
      if (ts.isNewExpression(node)) return Reflect.construct(callee, values())
      return callee(...values())
    })
  }

  #call(
    node: ts.ArrowFunction | ts.FunctionExpression | ts.FunctionDeclaration,
    values: readonly unknown[],
    env: Env,
  ): unknown {
    const own = new Env(node, env)
    for (const [index, { name, initializer }] of node.parameters.entries()) {
      const value = values[index] === undefined && initializer ? this.#evaluate(initializer, own) : values[index]
      this.#bind(name, value, own)
    }
    if (!node.body) throw new Unknown(`no body: ${node.getText()}`)
    if (!ts.isBlock(node.body)) return this.#evaluate(node.body, own)
    return this.#run(node.body.statements, own)?.value
  }

  #perform(node: ts.Expression, env: Env): void {
    if (!ts.isBinaryExpression(node) || !ts.isIdentifier(node.left)) {
      this.#evaluate(node, env)
      return
    }
    const symbol = this.#checker.getSymbolAtLocation(node.left)
    const { kind } = node.operatorToken
    if (!symbol || (kind !== ts.SyntaxKind.EqualsToken && kind !== ts.SyntaxKind.PlusEqualsToken)) {
      throw new Unknown(`cannot evaluate ${node.getText().slice(0, 80)}`)
    }
    const value = this.#evaluate(node.right, env)
    const whole = kind === ts.SyntaxKind.EqualsToken ? value : textOf(this.#evaluate(node.left, env)) + textOf(value)
    env.set(symbol, whole, symbol.valueDeclaration)
  }

  #bind(name: ts.BindingName, value: unknown, env: Env): void {
    if (ts.isIdentifier(name)) {
      const symbol = this.#checker.getSymbolAtLocation(name)
      if (symbol) env.set(symbol, value, name)
      return
    }
    for (const [index, element] of name.elements.entries()) {
      if (ts.isOmittedExpression(element)) continue
      const key = ts.isArrayBindingPattern(name)
        ? index
        : ((element.propertyName ?? element.name) as ts.Identifier).text
      const found = element.dotDotDotToken ? (value as unknown[]).slice(index) : this.#member(value, key, element)
      this.#bind(
        element.name,
        found === undefined && element.initializer ? this.#evaluate(element.initializer, env) : found,
        env,
      )
    }
  }

  /** Runs what builds texts before the node in the functions around it; false when the node is not reached. */
  #runUpTo(node: ts.Node, env: Env): boolean {
    const blocks: ts.Block[] = []
    for (let at = node; !ts.isSourceFile(at); at = at.parent) if (ts.isBlock(at)) blocks.unshift(at)
    return blocks.every((block) =>
      block.statements
        .filter((statement) => statement.end <= node.pos && /\.push\(|\w \+?= /.test(statement.getText()))
        .filter((statement) => ts.isIfStatement(statement) || ts.isExpressionStatement(statement))
        .every((statement) => this.#run([statement], env) === undefined),
    )
  }

  /** What the statements return, if they do. */
  #run(statements: readonly ts.Statement[], env: Env): { readonly value: unknown } | undefined {
    for (const statement of statements) {
      if (ts.isReturnStatement(statement)) {
        return { value: statement.expression && this.#evaluate(statement.expression, env) }
      }
      if (ts.isExpressionStatement(statement)) this.#perform(statement.expression, env)
      else if (ts.isIfStatement(statement)) {
        const branch = this.#holds(statement.expression, env) ? statement.thenStatement : statement.elseStatement
        const returned = branch && this.#run(ts.isBlock(branch) ? branch.statements : [branch], env)
        if (returned) return returned
      } else if (ts.isThrowStatement(statement)) throw new Unknown(`throws: ${statement.getText().slice(0, 80)}`)
      else if (ts.isVariableStatement(statement)) {
        for (const { name, initializer } of statement.declarationList.declarations) {
          this.#bind(name, initializer && this.#evaluate(initializer, env), env)
        }
      } else throw new Unknown(`cannot evaluate ${statement.getText().slice(0, 80)}`)
    }
    return undefined
  }
}

function known(value: unknown): object {
  if (typeof value !== 'object' || value === null || value instanceof Opaque) throw new Unknown('not an object')
  return value
}

/** The value as a template literal writes it. */
function textOf(value: unknown): string {
  if (value === undefined || value === null || typeof value === 'function') throw new Unknown(`a text is ${value}`)
  const text = `${value}`
  if (text === 'NaN') throw new Unknown('a text is not a number')
  return text
}

function lazily(object: object, name: string, evaluate: () => unknown): void {
  let value: { readonly is: unknown } | undefined
  const get = () => {
    value ??= { is: evaluate() }
    return value.is
  }
  Object.defineProperty(object, name, { get, enumerable: true, configurable: true })
}

function toRegExp(text: string): RegExp {
  const end = text.lastIndexOf('/')
  return new RegExp(text.slice(1, end), text.slice(end + 1))
}
