/**
 * The stages of rendering a batch. `map`: mapping and writing; `xsd`: the official schema; `feeds`: hashes, Atom feeds and
 * the API's records; `tables`: the activity's rows; `index`: its entry.
 */
export type RenderStage = 'read' | 'map' | 'check' | 'xsd' | 'feeds' | 'tables' | 'index' | 'store'

/** Receives how many milliseconds a stage took. */
export type StageListener = (stage: RenderStage, ms: number) => void

/** Starts timing a stage; call the result when the stage ends. */
export function startStage(onStageMs: StageListener | undefined, stage: RenderStage): () => void {
  if (!onStageMs) return () => undefined
  const began = performance.now()
  return () => onStageMs(stage, performance.now() - began)
}
