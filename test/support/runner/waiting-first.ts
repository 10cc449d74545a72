import { createHash } from 'node:crypto'
import path from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Starts with the files that wait for most of their time (vitest: with the largest, or the longest of the last run), so that no core
 * idles at the end; with `--sequence.shuffle` any order, by its seed.
 */
export function waitingFirst(waiting: readonly string[]): typeof BaseSequencer {
  return class extends BaseSequencer {
    override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      const { shuffle, seed } = this.ctx.config.sequence
      if (shuffle) {
        const place = (file: string) => createHash('sha256').update(`${seed}${file}`).digest('hex')
        return [...files].sort((a, b) => (place(a.moduleId) < place(b.moduleId) ? -1 : 1))
      }
      const waits = ({ moduleId }: TestSpecification) => waiting.includes(path.relative(this.ctx.config.root, moduleId))
      const sorted = await super.sort(files)
      return [...sorted.filter(waits), ...sorted.filter((file) => !waits(file))]
    }
  }
}
