import { serveRendering } from '../../src/publishing/serve-rendering.js'

// A rendering thread without our checks, for benches that compare with what checks nothing.
await serveRendering({ check: () => [] })
