// `maxRSS` begins with what the parent had: the kernel keeps it when a process is made.
const program = `import { readFileSync } from 'node:fs'
process.on('exit', () => process.stderr.write('peak=' + /VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1] + '\\n'))`

/** NODE_OPTIONS with which a process prints the most memory that it had, in KiB, to standard error when it ends. */
export const printsPeak = `--import=data:text/javascript,${encodeURIComponent(program)}`
