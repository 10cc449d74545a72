import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

// `npm run check`: its steps at once, since most of them use one core; each is printed as a whole when it has ended.
const steps = ['types', 'test:unit', 'lint', 'arrows', 'unused', 'unused:production']

const failed = await Promise.all(
  steps.map(async (step) => {
    const began = performance.now()
    const child = spawn('npm', ['run', '--silent', step], { stdio: ['ignore', 'pipe', 'pipe'] })
    const ended = new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? 1)))
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
    const code = await ended
    const seconds = ((performance.now() - began) / 1000).toFixed(1)
    process.stdout.write(
      `\n== npm run ${step}: ${code === 0 ? 'passed' : 'FAILED'} after ${seconds} s\n${stdout}${stderr}`,
    )
    return code === 0 ? [] : [step]
  }),
)
if (failed.flat().length > 0) process.stdout.write(`\nfailed: ${failed.flat().join(', ')}\n`)
process.exit(failed.flat().length > 0 ? 1 : 0)
