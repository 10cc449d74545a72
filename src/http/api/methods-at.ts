import type { FastifyInstance, FastifyRequest } from 'fastify'
import createRouter from 'find-my-way'

declare module 'fastify' {
  interface FastifyInstance {
    methodsAt(address: string): readonly string[]
  }
  interface FastifyContextConfig {
    /** Answers whatever no other route does. */
    readonly isCatchAll?: true
  }
}

/** Learns which methods each address takes; registered before the routes. The framework tells it of patterns only. */
export function learnMethods(app: FastifyInstance): void {
  const methodsOf = new Map<string, string[]>()
  const router = createRouter({ maxParamLength: 2_048 })
  app.decorate('methodsAt', (address) => (router.find('GET', address)?.store as string[] | undefined) ?? [])
  app.addHook('onRoute', ({ url, method, config }) => {
    if (config?.isCatchAll) return
    const methods = methodsOf.get(url) ?? []
    if (methods.length === 0) router.on('GET', url, () => undefined, methods)
    methodsOf.set(url, methods)
    methods.push(...[method].flat().filter((name) => name !== 'OPTIONS' && !methods.includes(name)))
  })
}

/** The methods that the address of a request takes, OPTIONS left out; none where it does not exist. */
export function methodsAt(request: FastifyRequest): readonly string[] {
  return request.server.methodsAt(request.url)
}
