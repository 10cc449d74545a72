import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, cp, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { getServerPackage, openServerPrograms } from '../../../../src/platform/embedded-postgres/binaries.js'
import { installed, nodeBinary } from '../../../support/runner/node-binary.js'
import type { Podman } from './podman.js'

const here = import.meta.dirname
const cache = path.resolve(here, '../../../../node_modules/.cache')

/** Makes the stand-ins and gives them the names that docker-compose.yml and Dockerfile ask for. */
export async function makeStandIns({ run, folder }: Podman): Promise<void> {
  const context = path.join(folder, 'stand-ins')
  await mkdir(context)
  await copyFile(await nodeBinary('22'), path.join(context, 'node'))
  await cp(path.join(await installed('npm-11', 'npm@11'), 'npm'), path.join(context, 'npm'), { recursive: true })
  const nativeDir = await openServerPrograms(await getServerPackage(), context, false)
  await cp(nativeDir, path.join(context, 'native'), { recursive: true, verbatimSymlinks: true })
  await copyFile(path.join(here, 'postgres-entrypoint.sh'), path.join(context, 'postgres-entrypoint.sh'))
  // A registry may be reached through a proxy with an authority of its own.
  const { NODE_EXTRA_CA_CERTS } = process.env
  const authorities = NODE_EXTRA_CA_CERTS ? await readFile(NODE_EXTRA_CA_CERTS) : ''
  await writeFile(path.join(context, 'authorities.pem'), authorities)

  await run('import', await debianArchive(), 'giving-stand-in-debian')
  for (const image of ['node:22-slim', 'postgres:18', 'redis:8-alpine', 'caddy:2-alpine']) {
    const [target = ''] = image.split(':')
    const file = path.join(here, 'stand-ins.Containerfile')
    await run('build', '--target', target, '--tag', `docker.io/library/${image}`, '--file', file, context)
  }
}

/** A minimal Debian with PostgreSQL's client, Redis and Caddy; made once. */
async function debianArchive(): Promise<string> {
  const archive = path.join(cache, 'giving-debian-caddy.tar')
  if (existsSync(archive)) return archive
  await mkdir(cache, { recursive: true })
  const draft = path.join(cache, `giving-debian.${process.pid}.tar`)
  const packages = '--include=ca-certificates,postgresql-client,redis-server,caddy,wget,libcap2-bin'
  await promisify(execFile)('mmdebstrap', ['--variant=minbase', packages, 'bookworm', draft], { maxBuffer: 2 ** 26 })
  await rename(draft, archive)
  return archive
}
