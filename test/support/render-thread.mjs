import './register-typescript.mjs'

// The product's rendering thread, from the sources as they are.
await import('../../src/publishing/render-thread.ts')
