import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { installed, nodeBinary } from './node-binary.js'

// `npm run test:node-versions` runs the checks and all tests on these versions of Node; with arguments, which are those of
// vitest, only the tests that they name. package.json has the oldest version, which the campaign and this script run on.
const versions = ['22', '24']

const npm = path.join(await installed('npm-11', 'npm@11'), 'npm/bin/npm-cli.js')
const args = process.argv.slice(2)
const commands =
  args.length > 0
    ? [['exec', '--', 'vitest', 'run', ...args]]
    : [
        ['run', 'check'],
        ['run', 'test:all'],
      ]

for (const version of versions) {
  const node = await nodeBinary(version)
  const { stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' })
  // Programs of packages are started by the first node of the path.
  const env = { ...process.env, PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH}` }
  for (const command of commands) {
    console.log(`\nNode ${stdout.trim()}: npm ${command.join(' ')}`)
    const { status } = spawnSync(node, [npm, ...command], { env, stdio: 'inherit' })
    if (status !== 0) process.exit(status ?? 1)
  }
}
