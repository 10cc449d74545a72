import type { MappingConfig } from '../../iati/mapping/mapping-config.js'
import type { ReleaseRecord, SigningKey } from '../../kernel/release-chain.js'
import type { Store } from '../../platform/database/store.js'
import type { Run } from '../../work/run.js'
import type { Draft } from '../folder/draft.js'
import type { Snapshot } from '../plan/planned-file.js'
import type { Progress } from '../publication.js'
import type { ReadableRelease } from '../read/release-reader.js'

/** What a release is written with. */
export type Build = {
  readonly config: MappingConfig
  readonly run: Run
  readonly draft: Draft
  readonly live: ReadableRelease | undefined
  /** The records of earlier releases. */
  readonly chain: readonly ReleaseRecord[]
  readonly signer?: SigningKey
  readonly store: Store
  /** What the release was planned from. */
  readonly snapshot: Snapshot
  readonly signal: AbortSignal
  readonly onProgress: Progress
}
