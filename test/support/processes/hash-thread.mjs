import '../runner/register-typescript.mjs'

// The product's thread that hashes, from the sources as they are.
await import('../../../src/release/folder/hash-thread.ts')
