import { execFile, spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

/** A Podman with images, containers and networks of its own, which serves Docker's API on a socket. */
export type Podman = {
  readonly folder: string
  /** Environment of programs that ask for the socket. */
  readonly environment: NodeJS.ProcessEnv
  /** Runs `podman` and returns what it printed. */
  run(...args: readonly string[]): Promise<string>
  /** Removes everything it made. */
  close(): Promise<void>
}

const programs = ['podman', 'runc', 'catatonit', 'docker-compose', 'mmdebstrap', 'ip']

/** Why this machine cannot start docker-compose.yml in Podman; undefined when it can. */
export function podmanMissing(): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'the stand-in images are made for Linux on x64'
  const missing = programs.filter((program) => spawnSync(program, ['--version']).error)
  if (missing.length > 0) {
    return `${missing.join(', ')} not installed: apt-get install podman runc catatonit netavark aardvark-dns docker-compose mmdebstrap iproute2`
  }
  if (process.getuid?.() !== 0) return 'only root can make the networks and the stand-in images'
  return undefined
}

/**
 * Starts a Podman whose storage is a folder below the temporary one. Limits of processes and files are those that a
 * machine without CAP_SYS_RESOURCE may set, and runc is used because crun refuses cgroups of both versions at once.
 */
export async function startPodman(): Promise<Podman> {
  // Podman ends no container whose `run` is longer than 50 characters.
  const folder = await mkdtemp(path.join(tmpdir(), 'podman-'))
  const [socket, settings, storage] = ['podman.sock', 'containers.conf', 'storage.conf'].map((name) =>
    path.join(folder, name),
  ) as [string, string, string]
  await writeFile(
    settings,
    `[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[network]
network_backend = "netavark"
network_config_dir = "${folder}/networks"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
runtime = "runc"
tmp_dir = "${folder}/tmp"
`,
  )
  await writeFile(
    storage,
    `[storage]\ndriver = "overlay"\ngraphroot = "${folder}/storage"\nrunroot = "${folder}/run"\n`,
  )
  const environment = {
    ...process.env,
    CONTAINERS_CONF: settings,
    CONTAINERS_STORAGE_CONF: storage,
    DOCKER_HOST: `unix://${socket}`,
  }
  const run: Podman['run'] = async (...args) => {
    const { stdout } = await promisify(execFile)('podman', args, { env: environment, maxBuffer: 2 ** 26 })
    return stdout.trim()
  }
  const service = spawn('podman', ['system', 'service', '--time=0', `unix://${socket}`], {
    env: environment,
    stdio: 'ignore',
  })
  const ended = new Promise((resolve) => service.once('exit', resolve))
  while (!existsSync(socket) && service.exitCode === null) await sleep(50)
  return {
    folder,
    environment,
    run,
    close: async () => {
      await run('rm', '--all', '--force', '--time=0')
      await run('network', 'prune', '--force')
      service.kill()
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/**
 * Keeps the hardware addresses that the bridges of the networks have now. Podman's network programs of Debian 12 let a
 * bridge take the lowest address of its containers: when that one is replaced, all others send to an address that is gone,
 * and reach neither DNS nor anything outside for half a minute.
 */
export async function keepBridgeAddresses({ run }: Podman): Promise<void> {
  for (const network of (await run('network', 'ls', '--quiet')).split('\n').filter(Boolean)) {
    const bridge = await run('network', 'inspect', network, '--format', '{{.NetworkInterface}}')
    const address = await readFile(`/sys/class/net/${bridge}/address`, 'utf8').catch(() => undefined)
    // A network without a running container has no bridge.
    if (address) await promisify(execFile)('ip', ['link', 'set', 'dev', bridge, 'address', address.trim()])
  }
}

/**
 * Runs the health checks of containers that are not healthy yet: without systemd, Podman has no timers for them. Returns
 * the function that ends it.
 */
export function driveHealthChecks({ run }: Podman): () => Promise<void> {
  const stop = new AbortController()
  const drive = async () => {
    while (!stop.signal.aborted) {
      for (const state of ['starting', 'unhealthy']) {
        for (const id of (await run('ps', '--quiet', '--filter', `health=${state}`)).split('\n').filter(Boolean)) {
          await run('healthcheck', 'run', id).catch(() => undefined)
        }
      }
      await sleep(500, undefined, { signal: stop.signal }).catch(() => undefined)
    }
  }
  const driven = drive()
  return async () => {
    stop.abort()
    await driven
  }
}
