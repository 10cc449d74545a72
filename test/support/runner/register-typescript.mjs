import { register } from 'node:module'

// `node --import ./test/support/runner/register-typescript.mjs file.ts`: runs our sources as they are, without a build.
register('./typescript-loader.mjs', import.meta.url)
