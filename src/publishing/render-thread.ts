import { serveRendering } from './serve-rendering.js'

// What a rendering thread runs.
await serveRendering()
