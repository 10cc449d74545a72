import { execFile, spawnSync } from 'node:child_process'
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/values/temporary-folder.js'
import { record } from './support/record.js'

const run = promisify(execFile)
const project = path.resolve(import.meta.dirname, '../..')

function missing(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root can make an empty Debian'
  const absent = ['mmdebstrap', 'unshare', 'ip'].filter((program) => spawnSync(program, ['--help']).error)
  if (absent.length > 0) return `${absent.join(', ')} not installed`
  return spawnSync('npm', ['ping']).status === 0 ? undefined : 'the npm registry cannot be reached'
}

/**
 * Stands in for the supervisor, which does not run in a root folder of its own: starts what Debian's units start, and
 * what ours have as ExecStart, as their user and with their environment.
 */
const systemctl = `#!/bin/bash
echo "without systemd: systemctl $*"
start() {
  case $1 in
    postgresql) pg_ctlcluster "$(ls /etc/postgresql)" main start ;;
    redis-server) runuser -u redis -- redis-server --daemonize yes --dir /var/lib/redis >/dev/null ;;
    prometheus) runuser -u prometheus -- prometheus --config.file=/etc/prometheus/prometheus.yml \\
      --storage.tsdb.path=/var/lib/prometheus/metrics2 >/var/log/prometheus.log 2>&1 & ;;
    giving-*)
      unit=/etc/systemd/system/$(echo "$1" | sed 's/@.*/@/').service
      install -d -o giving -g giving -m 0750 /var/lib/giving
      set -a; . "$(sed -n 's/^EnvironmentFile=//p' "$unit")"; set +a
      export $(sed -n 's/^Environment=//p' "$unit")
      runuser -u giving -- $(sed -n 's/^ExecStart=//p' "$unit") >"/var/log/$1.log" 2>&1 &
      until grep -q -e "listening on" -e "worker ready" "/var/log/$1.log"; do
        kill -0 $! || { cat "/var/log/$1.log" >&2; exit 1; }
        sleep 0.2
      done
      ;;
  esac
}
case $1 in
  enable) shift 2; for unit in "$@"; do start "$unit"; done ;;
  restart) start "$2" ;;
esac
`

/** The commands of each block of a page. */
async function blocksOf(page: string): Promise<string[]> {
  const text = await readFile(path.join(project, page), 'utf8')
  return [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, commands]) => commands ?? '')
}

/** A Debian of its own with the package of this project in the home folder of root. */
async function emptyDebian(): Promise<{
  root: string
  inside: (commands: string, network: 'ours' | 'its own') => Promise<string>
}> {
  const root = await temporaryFolder()
  // Its packages are unpacked without waiting for the disk.
  const options = ['--variant=minbase', '--include=ca-certificates,systemd', '--dpkgopt=force-unsafe-io']
  await run('mmdebstrap', [...options, 'trixie', root], { maxBuffer: 2 ** 26 })
  // Builds first: the script `prepare`.
  await run('npm', ['pack', '--pack-destination', path.join(root, 'root')], { cwd: project })
  // What this machine reaches the registries through.
  await copyFile('/etc/resolv.conf', path.join(root, 'etc/resolv.conf'))
  const { NODE_EXTRA_CA_CERTS } = process.env
  if (NODE_EXTRA_CA_CERTS) await copyFile(NODE_EXTRA_CA_CERTS, path.join(root, 'etc/ssl/certs/ca-certificates.crt'))
  await writeFile(path.join(root, 'usr/sbin/policy-rc.d'), '#!/bin/sh\nexit 101\n', { mode: 0o755 })

  const inside = async (commands: string, network: 'ours' | 'its own') => {
    const script = path.join(root, 'root/commands')
    await writeFile(script, `set -euxo pipefail\ncd /root\n${commands}`)
    const prepare = `ip link set lo up; mount -t proc proc "$1/proc"; mount --rbind /dev "$1/dev"; exec chroot "$1" bash /root/commands`
    const unshare = ['--mount', '--pid', '--fork', '--kill-child', ...(network === 'ours' ? [] : ['--net'])]
    const env = {
      ...{ PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/root', LANG: 'C.UTF-8' },
      ...{ DEBIAN_FRONTEND: 'noninteractive', NODE_EXTRA_CA_CERTS: '/etc/ssl/certs/ca-certificates.crt' },
    }
    const { stdout, stderr } = await run('unshare', [...unshare, 'sh', '-c', prepare, 'sh', root], {
      env,
      maxBuffer: 2 ** 26,
    }).catch((error: { stdout: string; stderr: string }) => {
      throw new Error(`${error.stdout.slice(-4000)}\n${error.stderr.slice(-4000)}`)
    })
    return stdout + stderr
  }
  return { root, inside }
}

test('docs/how-to/install.md takes an empty Debian to a supervised, watched and saved service', async (context) => {
  const reason = missing()
  if (reason) {
    console.log(`docs/how-to/install.md is not run: ${reason}`)
    return context.skip(reason)
  }
  const [install = '', ...others] = await blocksOf('docs/how-to/install.md')
  expect(others.length).toBeGreaterThan(3)
  const { root, inside } = await emptyDebian()
  await inside(install, 'ours')
  await writeFile(path.join(root, 'usr/local/bin/systemctl'), systemctl, { mode: 0o755 })
  const proof = `
ask() {
  exec 3<>"/dev/tcp/127.0.0.1/$1"
  printf 'GET %s HTTP/1.0\\r\\nHost: %s\\r\\n\\r\\n' "$2" "$3" >&3
  cat <&3
}
ask 8080 /iati/activities.xml giving.example.org | grep --count --binary-files=text '<iati-activity '
ask 8081 /runs 127.0.0.1:8081 | grep --only-matching '<h1>.*</h1>'
# Prometheus has read the metrics of the API's process, on the console, and of the worker.
until [ "$(promtool query instant http://127.0.0.1:9090 'up == 1' | grep --count ':8081\\|:9464')" = 2 ]; do sleep 1; done
kill -TERM $(pgrep -u giving -f 'giving (api|worker)')
`
  const said = await inside(others.join('\n') + proof, 'its own')
  expect(said).toMatch(/^1$/m)
  expect(said).toMatch(/^<h1>Runs of 90 days<\/h1>$/m)
  expect(said).toContain('without systemd: systemctl enable --now giving-api giving-worker@1')
  console.log(
    said
      .split('\n')
      .filter((line) => line.startsWith('without systemd'))
      .join('\n'),
  )
  record({
    name: 'docs/how-to/install.md, in a Debian of its own',
    engine: 'Redis',
    tried: 1,
    outcome:
      'every command run: installed, published, healthy, its console open, watched and saved; units checked by systemd-analyze, their processes started without systemd',
  })
})

test('docs/tutorial/try.md takes an empty Debian with Node.js to a release that is served', async (context) => {
  const reason = missing()
  if (reason) {
    console.log(`docs/tutorial/try.md is not run: ${reason}`)
    return context.skip(reason)
  }
  const [install = '', first = '', start = '', look = '', ...more] = await blocksOf('docs/tutorial/try.md')
  expect(more).toEqual([])
  const { inside } = await emptyDebian()
  await inside(`${install}apt-get install --yes --no-install-recommends curl procps`, 'ours')
  const made = await inside(`exec 2>&1\nSECONDS=0\n${first}\necho "made ready in $SECONDS s"`, 'ours')
  const served = await inside(
    `exec 2>&1
export npm_config_offline=true
SECONDS=0
${start.trimEnd()} > said 2>&1 &
until grep -q "ready: http" said; do kill -0 $! && [ $SECONDS -lt 300 ] || { cat said; exit 1; }; sleep 1; done
echo "served after $SECONDS s"
${look}
set +x
echo "the package $(stat --format=%s giving-iati-*.tgz) bytes; installed $(du -sm .npm/_npx | cut -f1) MB; data $(du -sm data | cut -f1) MB"
pkill -TERM -f 'giving start'
wait || true`,
    'its own',
  )
  const said = made + served
  expect(said).toContain('next: giving start')
  expect(said).toMatch(/"activities": ?120/)
  const figures = said.match(/^(made ready in|served after|the package) .*$/gm) ?? []
  expect(figures).toHaveLength(3)
  record({
    name: 'docs/tutorial/try.md, in a Debian of its own',
    engine: 'PostgreSQL',
    tried: 1,
    outcome: figures.join('; '),
  })
})
