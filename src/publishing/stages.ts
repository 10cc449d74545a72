import type { PublicationDeps, RenderStage } from './publication.js'

/** Starts the time of a stage; the result ends it. Nothing where nobody listens. */
export function startStage({ onStage }: PublicationDeps, stage: RenderStage): (() => void) | undefined {
  if (!onStage) return undefined
  const began = performance.now()
  return () => onStage(stage, performance.now() - began)
}
