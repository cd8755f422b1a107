/**
 * Installs what the tests need beyond npm's packages: real peers, authorities and browsers. On Debian as root it happens by itself;
 * elsewhere what is missing is named, with how to get it.
 */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const debianPackages: Record<string, string> = {
  bash: 'bash',
  certutil: 'libnss3-tools',
  chromium: 'chromium',
  curl: 'curl',
  h2load: 'nghttp2-client',
  ip: 'iproute2',
  'mkfs.ext4': 'e2fsprogs',
  nft: 'nftables',
  nsenter: 'util-linux',
  openssl: 'openssl',
  promtool: 'prometheus',
  python3: 'python3-venv',
  setpriv: 'util-linux',
  'systemd-analyze': 'systemd',
  // Programs of ours for the other processor are assembled and run as well.
  'aarch64-linux-gnu-as': 'binutils-aarch64-linux-gnu',
  'qemu-aarch64': 'qemu-user',
  // Moves the clock of tests that would wait for whole minutes.
  faketime: 'faketime',
}

const goModules: Record<string, string> = {
  pebble: 'github.com/letsencrypt/pebble/v2/cmd/pebble@v2.10.1',
  'pebble-challtestsrv': 'github.com/letsencrypt/pebble/v2/cmd/pebble-challtestsrv@v2.10.1',
  versitygw: 'github.com/versity/versitygw/cmd/versitygw@v1.8.0',
  h2spec: 'github.com/summerwind/h2spec/cmd/h2spec@v2.2.1+incompatible',
}

/** Out of PyPI, each into a virtual environment of its own, named by its version. */
const pythonPackages: Record<string, string> = { schemathesis: '4.32.5', standardwebhooks: '1.1.0' }

const go = Bun.which('go') ?? (existsSync('/usr/local/go/bin/go') ? '/usr/local/go/bin/go' : undefined)
const goFolder = join(process.env.GOPATH ?? join(homedir(), 'go'), 'bin')

const packages = Object.entries(debianPackages).flatMap(([program, name]) => (has(program) ? [] : [name]))
const modules = Object.entries(goModules).flatMap(([program, name]) => (has(program) || existsSync(join(goFolder, program)) ? [] : [name]))

if (packages.length > 0) {
  const canInstall = process.getuid?.() === 0 && has('apt-get')
  if (!canInstall) fail(`The tests need ${packages.join(', ')}. On Debian: sudo apt-get install ${packages.join(' ')}`)
  console.log(`Installing ${packages.join(', ')} for the tests`)
  run(['apt-get', 'update', '-qq'])
  run(['apt-get', 'install', '-y', '-qq', '--no-install-recommends', ...packages])
}
for (const name of modules) {
  if (go === undefined)
    fail(`The tests need ${name}, which Go builds: install Go (https://go.dev/dl, or Debian: apt-get install golang-go).`)
  console.log(`Building ${name} for the tests`)
  run([go, 'install', name])
}

for (const [name, version] of Object.entries(pythonPackages)) {
  const folder = `node_modules/.cache/${name}-${version}`
  if (isInstalled(folder, `${name}-${version}`)) continue
  console.log(`Installing ${name} for the tests`)
  const isMade = Bun.spawnSync(['python3', '-m', 'venv', '--clear', folder], { stdout: 'ignore', stderr: 'inherit' }).exitCode === 0
  if (!isMade) fail(`The tests need ${name}, for which Python makes a virtual environment. On Debian: sudo apt-get install python3-venv`)
  run([join(folder, 'bin/pip'), 'install', '--quiet', '--disable-pip-version-check', `${name}==${version}`])
}

/** The record is what pip writes last. */
function isInstalled(folder: string, release: string): boolean {
  return existsSync(folder) && !new Bun.Glob(`lib/python*/site-packages/${release}.dist-info/RECORD`).scanSync({ cwd: folder }).next().done
}

function has(program: string): boolean {
  return Bun.which(program) !== null || existsSync(`/usr/sbin/${program}`)
}

function run(argv: string[]): void {
  const { exitCode } = Bun.spawnSync(argv, {
    stdout: 'ignore',
    stderr: 'inherit',
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  })
  if (exitCode !== 0) fail(`${argv.join(' ')} failed with code ${exitCode}.`)
}

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}
