import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { transpileProgram } from '../../support/commands/cli.js'

const cwd = await transpileProgram()

/** Runs a script that has a `log` to its end; returns the messages that it wrote, and how it ended. */
function messagesOf(script: string) {
  const module = `import { createLog } from './src/platform/observability/log.js'\nconst log = createLog('info')\n${script}`
  const args = ['--input-type=module', '--eval', module]
  const { stderr, status } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' })
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

describe('a line of the log', () => {
  /** What a script wrote that has a log of this form. */
  const written = (format: string, script: string) => {
    const module = `import { createLog } from './src/platform/observability/log.js'\nconst log = createLog(undefined, '${format}')\n${script}`
    const args = ['--input-type=module', '--eval', module]
    return spawnSync(process.execPath, args, { cwd, encoding: 'utf8' }).stderr
  }
  const script = `log.info({ run: 7, why: 'two words', apiKey: 'k', headers: { authorization: 'Bearer t', 'x-api-key': 'k' } }, 'done\\u001b[2J'); log.warn({ err: new Error('no room') }, 'failed')`

  it('is for people as text, without secrets and characters that a terminal obeys', () => {
    expect(written('text', script).replace(/^\d\d:\d\d:\d\d/gm, 'TIME')).toBe(
      'TIME info  done\\u001b[2J run=7 why="two words" apiKey=[redacted] headers={"authorization":"[redacted]","x-api-key":"[redacted]"}\nTIME warn  failed: no room\n',
    )
  })

  it('is JSON where standard error is no terminal', () => {
    expect(JSON.parse(written('auto', script).split('\n')[0] ?? '')).toMatchObject({ level: 30, run: 7 })
  })

  it('is text in a terminal, where only warnings are written', (context) => {
    if (spawnSync('script', ['--version']).error) return context.skip('the program script is not installed')
    const module = `import { createLog } from './src/platform/observability/log.js'; const log = createLog(undefined); ${script}`
    const node = `${process.execPath} --input-type=module --eval "$MODULE"`
    const { stdout } = spawnSync('script', ['--quiet', '--command', node, '/dev/null'], {
      cwd,
      encoding: 'utf8',
      env: { ...process.env, MODULE: module },
    })
    expect(stdout.replace(/\d\d:\d\d:\d\d/g, 'TIME')).toBe('TIME warn  failed: no room\r\n')
  })
})
