import type { Notice } from '../../kernel/notice.js'
import type { ElementRule } from '../standard/index.js'

const askedOneIn = 50
// libxml2 refuses texts of 10 MB.
const mostBytes = 1_000_000

/**
 * The shapes of elements that the official schema has accepted. Its verdict on an element follows from the names of the
 * attributes, the order of the children and the values alone, so a record of accepted shapes and sound values need not be
 * shown to it (docs/adr/0032-shapes-that-the-schema-accepted.md).
 */
export class Shapes {
  readonly #starts = new Map<ElementRule, ShapeStep>()
  /** How many steps more are kept, some 80 bytes each; nothing beyond them is learned. */
  #room: number
  #known = 0
  #isTrusted = true

  constructor(mostSteps = 10_000) {
    this.#room = mostSteps
  }

  /** For the walk over one record. */
  open(): RecordShape {
    return new RecordShape(this)
  }

  /** Whether another step may be kept; takes its place. */
  takeRoom(): boolean {
    this.#room -= 1
    return this.#room >= 0
  }

  /** The beginning of an element at the place of this rule. */
  start(rule: ElementRule): ShapeStep {
    const known = this.#starts.get(rule)
    if (known) return known
    const step = new ShapeStep(this)
    if (this.takeRoom()) this.#starts.set(rule, step)
    return step
  }

  /** Whether the schema must be asked about a record of so many bytes: one in 50 of those that it knows, and every other. */
  isAsked(record: RecordShape, bytes: number): boolean {
    if (!this.#isTrusted || bytes > mostBytes || !record.isAccepted()) return true
    this.#known += 1
    return this.#known % askedOneIn === 0
  }

  /** Takes note of the schema's verdict. Once it refuses a record that it knows, it is asked about every other. */
  learn(record: RecordShape, verdict: readonly Notice[]): void {
    if (verdict.length === 0) record.accept()
    else if (record.isAccepted()) this.#isTrusted = false
  }
}

/** How far an element was read: the names of its attributes, then of its children, of which repeated ones count once. */
export class ShapeStep {
  /** Whether an element that ended here was part of a record that the official schema accepted. */
  isAccepted = false
  readonly #shapes: Shapes
  readonly #name: string
  readonly #beside: ShapeStep | undefined
  #next: ShapeStep | undefined

  constructor(shapes: Shapes, name = '', beside?: ShapeStep) {
    this.#shapes = shapes
    this.#name = name
    this.#beside = beside
  }

  next(name: string): ShapeStep {
    for (let step = this.#next; step; step = step.#beside) if (step.#name === name) return step
    const step = new ShapeStep(this.#shapes, name, this.#next)
    if (this.#shapes.takeRoom()) this.#next = step
    return step
  }
}

/** The shapes of the elements of one record, as the walk over it tells them. */
export class RecordShape {
  readonly shapes: Shapes
  /** Those that were not accepted then. */
  readonly #fresh: ShapeStep[] = []
  #isWalked = false
  #isDoubted = false

  constructor(shapes: Shapes) {
    this.shapes = shapes
  }

  end(step: ShapeStep | undefined): void {
    this.#isWalked = true
    if (step && !step.isAccepted) this.#fresh.push(step)
  }

  /** Says that the verdict may follow from more than the shapes. */
  doubt(): void {
    this.#isDoubted = true
  }

  isAccepted(): boolean {
    return this.#isWalked && !this.#isDoubted && this.#fresh.every(({ isAccepted }) => isAccepted)
  }

  /** Where there is doubt, nothing is learned. */
  accept(): void {
    if (this.#isDoubted) return
    for (const step of this.#fresh) step.isAccepted = true
  }
}
