/** `npm run bench -- <name> [options]`: runs one bench; exits 1 when a bar is missed. */
const benches: Readonly<Record<string, () => Promise<{ bench(args: readonly string[]): Promise<boolean> }>>> = {
  api: () => import('./api/bench.js'),
  donations: () => import('./donations/bench.js'),
  sync: () => import('./sync/bench.js'),
}

const [name = '', ...args] = process.argv.slice(2)
const load = benches[name]
if (load === undefined) {
  process.stderr.write(`usage: npm run bench -- <name> [--quick]; benches: ${Object.keys(benches).join(', ')}\n`)
  process.exitCode = 2
} else {
  const { bench } = await load()
  process.exitCode = (await bench(args)) ? 0 : 1
}
