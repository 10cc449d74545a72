/**
 * What rendering a batch consists of. `map`: mapping and writing; `xsd`: the official schema; `feeds`: hashes,
 * Atom feeds and the API's records.
 */
export type RenderStage = 'read' | 'map' | 'check' | 'xsd' | 'feeds' | 'store'

/** Hears how many milliseconds went into a stage. */
export type StageListener = (stage: RenderStage, ms: number) => void

/** Starts the time of a stage; the result ends it. Nothing where nobody listens. */
export function startStage(onStage: StageListener | undefined, stage: RenderStage): (() => void) | undefined {
  if (!onStage) return undefined
  const began = performance.now()
  return () => onStage(stage, performance.now() - began)
}
