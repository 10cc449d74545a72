import { parentPort, workerData } from 'node:worker_threads'
import { ServiceError } from '../domain/errors.js'
import { createXsdValidator } from '../validation/index.js'
import { type RenderReply, type RenderRequest, type ThreadOptions, toBlock } from './render-messages.js'
import type { RenderDeps } from './render-project.js'
import { renderBatch } from './renderer.js'
import type { RenderStage } from './stages.js'

/** Renders batch after batch for the process that started this thread, until that ends it. */
export async function serveRendering({ check }: Pick<RenderDeps, 'check'> = {}): Promise<void> {
  const port = parentPort
  if (!port) throw new Error('this program is a thread of another')
  const say = (reply: RenderReply, handOver: ArrayBuffer[] = []) => port.postMessage(reply, handOver)
  const complain = (kind: 'failed' | 'unable', error: unknown) =>
    say({ kind, code: error instanceof ServiceError ? error.code : undefined, error })
  try {
    const { mapping, standardDir, timed } = workerData as ThreadOptions
    const stages = new Map<RenderStage, number>()
    const deps: RenderDeps = {
      ...{ mapping, check },
      xsd: standardDir === undefined ? undefined : await createXsdValidator(standardDir),
      onStage: timed ? (stage, ms) => stages.set(stage, (stages.get(stage) ?? 0) + ms) : undefined,
    }
    port.on('message', ({ projects, startedAt }: RenderRequest) => {
      renderBatch(deps, projects, startedAt).then(
        (rendered) => {
          const { projects: inBlock, block } = toBlock(rendered)
          say({ kind: 'rendered', projects: inBlock, stages: [...stages] }, [block])
          stages.clear()
        },
        (error) => complain('failed', error),
      )
    })
    say({ kind: 'ready', schemaVersion: deps.xsd?.version })
  } catch (error) {
    complain('unable', error)
  }
}
