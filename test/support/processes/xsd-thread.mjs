import '../runner/register-typescript.mjs'

// The product's thread of the official schema, from the sources as they are.
await import('../../../src/iati/validation/xsd-thread.ts')
