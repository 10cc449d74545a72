import { spawnSync } from 'node:child_process'
import net from 'node:net'
import { onTestFinished } from 'vitest'

const bridgeAddress = '10.77.0.1'
const bridge = 'giving0'

/** Machines of a network: each a namespace of Linux, which reaches this one over a bridge and shares no loopback with it. */
export type MachineNetwork = {
  /** The address of a machine, counted from 0, in the network. */
  addressOf(machine: number): string
  /** What runs a command on it. */
  within(machine: number): readonly string[]
  /** An address with its host and port in the network: what is sent to it, and answered, arrives after so many milliseconds. */
  far(url: string, delayMs: number): Promise<string>
}

/** Why machines cannot be made here; undefined when they can. */
export function machinesMissing(): string | undefined {
  if (process.getuid?.() !== 0) return 'namespaces need root'
  const probe = spawnSync('ip', ['link', 'add', bridge, 'type', 'bridge'])
  spawnSync('ip', ['link', 'del', bridge])
  if (probe.error) return 'ip (iproute2) is not on the PATH'
  return probe.status === 0 ? undefined : `no bridge can be made: ${probe.stderr}`
}

/** Makes so many machines; they go with the test. */
export function startMachines(count: number): MachineNetwork {
  const name = (machine: number) => `giving${machine + 1}`
  const addressOf = (machine: number) => `10.77.0.${10 + machine}`
  const remove = () => {
    for (let machine = 0; machine < count; machine++) spawnSync('ip', ['netns', 'del', name(machine)])
    spawnSync('ip', ['link', 'del', bridge])
  }
  // What a run left that was killed.
  remove()
  onTestFinished(remove)
  ip(`link add ${bridge} type bridge`)
  ip(`addr add ${bridgeAddress}/24 dev ${bridge}`)
  ip(`link set ${bridge} up`)
  for (let machine = 0; machine < count; machine++) {
    const [own, port] = [name(machine), `${bridge}p${machine}`]
    ip(`netns add ${own}`)
    ip(`link add ${port} type veth peer name eth0 netns ${own}`)
    ip(`link set ${port} master ${bridge} up`)
    ip(`-n ${own} addr add ${addressOf(machine)}/24 dev eth0`)
    for (const device of ['eth0', 'lo']) ip(`-n ${own} link set ${device} up`)
  }
  return {
    addressOf,
    within: (machine) => ['ip', 'netns', 'exec', name(machine)],
    far: async (url, delayMs) => {
      const place = new URL(url)
      const port = await relay(place.hostname, Number(place.port), delayMs)
      place.host = `${bridgeAddress}:${port}`
      return place.href.replace(/\/$/, url.endsWith('/') ? '/' : '')
    },
  }
}

function ip(command: string): void {
  const { status, stderr } = spawnSync('ip', command.split(' '), { encoding: 'utf8' })
  if (status !== 0) throw new Error(`ip ${command}: ${stderr}`)
}

/**
 * Leads connections on the bridge to a server on the loopback of this machine. The delay is made here, since not every kernel has
 * the one of `tc` (netem).
 */
async function relay(host: string, port: number, delayMs: number): Promise<number> {
  const sockets = new Set<net.Socket>()
  const pass = (from: net.Socket, to: net.Socket) => {
    sockets.add(from)
    const later = (work: () => void) => setTimeout(work, delayMs)
    from.on('data', (chunk) => later(() => to.write(chunk)))
    from.on('end', () => later(() => to.end()))
    from.on('error', () => undefined)
    from.on('close', () => {
      sockets.delete(from)
      later(() => to.destroy())
    })
  }
  const server = net.createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
    const far = net.connect({ host, port, allowHalfOpen: true, noDelay: true })
    pass(near, far)
    pass(far, near)
  })
  await new Promise<void>((resolve) => server.listen(0, bridgeAddress, resolve))
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return (server.address() as net.AddressInfo).port
}
