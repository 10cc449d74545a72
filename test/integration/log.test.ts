import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { describe, expect, it } from 'vitest'

const project = path.resolve(import.meta.dirname, '../..')

/** Runs a script that has a `log` to its end; returns the messages that it wrote, and how it ended. */
function messagesOf(script: string) {
  const module = `import { createLog } from './src/observability/log.ts'\nconst log = createLog('info')\n${script}`
  const args = ['--import', './test/support/register-typescript.mjs', '--input-type=module', '--eval', module]
  const { stderr, status } = spawnSync(process.execPath, args, { cwd: project, encoding: 'utf8' })
  const messages = stderr.split('\n').flatMap((line) => (line.startsWith('{') ? (JSON.parse(line).msg as string) : []))
  return { messages, status }
}

describe('what was logged is written', () => {
  it('in its order, when the process ends by itself', () => {
    const script = `log.info('one'); log.warn('two'); setTimeout(() => log.info('three'), 10)`
    expect(messagesOf(script)).toEqual({ messages: ['one', 'two', 'three'], status: 0 })
  })

  it('when the process exits in the same turn', () => {
    expect(messagesOf(`log.info('one'); log.error('two'); process.exit(3)`)).toEqual({
      messages: ['one', 'two'],
      status: 3,
    })
  })

  it('when an error ends the process in the same turn', () => {
    const { messages, status } = messagesOf(`log.info('one'); throw new Error('unexpected')`)
    expect({ messages, status }).toEqual({ messages: ['one'], status: 1 })
  })

  it('when it is more than is held back', () => {
    const { messages } = messagesOf(`for (let n = 0; n < 2000; n++) log.info(String(n))`)
    expect(messages).toEqual(Array.from({ length: 2_000 }, (_, n) => String(n)))
  })
})
