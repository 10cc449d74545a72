import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Resolves when somebody listens at the port; throws when the one who should has ended. */
export async function listening(port: number, runs: () => boolean): Promise<void> {
  for (;;) {
    const socket = net.connect(port, '127.0.0.1')
    const connected = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    })
    socket.destroy()
    if (connected) return
    if (!runs()) throw new Error(`the program that should listen at port ${port} has ended`)
    await sleep(50)
  }
}
