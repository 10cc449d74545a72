import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { brunoFolder } from './bruno-collection.js'
import { newInstallation } from './cli.js'
import { projectRoot } from './how-to.js'

// `npm run api:bruno`: starts the demo and sends it the requests of the collection that need nothing else.
const installation = await newInstallation()
try {
  const { baseUrl } = await installation.start()
  // Not a package of this project: it brings 440 others.
  const bruno = ['--yes', '@usebruno/cli@4.1.0', 'run', '-r', '--tags', 'demo', '--env', 'demo']
  const child = spawn('npx', [...bruno, '--env-var', `baseUrl=${baseUrl}`], {
    cwd: path.join(projectRoot, brunoFolder),
    stdio: 'inherit',
  })
  const [code] = (await once(child, 'close')) as [number | null]
  process.exitCode = code ?? 1
} finally {
  await installation.remove()
}
