type Job = () => void

/**
 * Lets clients take turns at work that holds the event loop: one job starts in each turn of the event loop, and one of each
 * waiting client before the second of any. So who asks for much waits for himself, and who asks for little waits for one
 * job of each other client at most.
 */
export class Turns {
  readonly #together: number
  /** Jobs by client; the client whose turn is next comes first. */
  readonly #waiting = new Map<string, Job[]>()
  #working = 0
  #isStarting = false

  /** `together`: jobs at a time, since one that waits for a file leaves the event loop to another. */
  constructor(together: number) {
    this.#together = together
  }

  /** Resolves or rejects as the work does, once it had its turn. */
  async take<T>(client: string, work: () => T | Promise<T>): Promise<T> {
    await new Promise<void>((resolve) => {
      const jobs = this.#waiting.get(client)
      if (jobs) jobs.push(resolve)
      else this.#waiting.set(client, [resolve])
      this.#startSoon()
    })
    try {
      return await work()
    } finally {
      this.#working--
      this.#startSoon()
    }
  }

  #startSoon(): void {
    if (this.#isStarting || this.#working >= this.#together || this.#waiting.size === 0) return
    this.#isStarting = true
    setImmediate(() => {
      this.#isStarting = false
      this.#start()
      this.#startSoon()
    })
  }

  #start(): void {
    for (const [client, jobs] of this.#waiting) {
      this.#waiting.delete(client)
      const job = jobs.shift()
      if (jobs.length > 0) this.#waiting.set(client, jobs)
      this.#working++
      job?.()
      return
    }
  }
}
