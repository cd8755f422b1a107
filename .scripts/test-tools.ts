/**
 * Installs what the tests need beyond npm's packages: real peers, authorities and browsers. On Debian as root it happens by itself;
 * elsewhere what is missing is named, with how to get it.
 */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { GITEA_VERSION } from '../test/support/gitea-version.ts'
import { pgbouncer } from '../test/support/pgbouncer.ts'

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
  ssh: 'openssh-client',
  sshd: 'openssh-server',
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

const pgbouncerPackages = [
  ...['pgbouncer', 'libc6', 'libevent-2.1-7t64', 'libcares2', 'libssl3t64', 'libpam0g', 'libsystemd0'],
  ...['libldap2', 'libsasl2-2', 'libaudit1', 'libcap-ng0', 'libcap2', 'libzstd1'],
]

const go = Bun.which('go') ?? (existsSync('/usr/local/go/bin/go') ? '/usr/local/go/bin/go' : undefined)
const goFolder = join(process.env.GOPATH ?? join(homedir(), 'go'), 'bin')

const packages = Object.entries(debianPackages).flatMap(([program, name]) => (has(program) ? [] : [name]))
const modules = Object.entries(goModules).flatMap(([program, name]) => (has(program) || existsSync(join(goFolder, program)) ? [] : [name]))

if (packages.length > 0) await installPackages()
// Downloads of one overlap with what another computes.
await Promise.all([
  ...modules.map(installModule),
  ...Object.entries(pythonPackages).map(([name, version]) => installPython(name, version)),
  ...(existsSync(pgbouncer) ? [] : [installPgbouncer()]),
  ...(has('gitea') || existsSync(join(goFolder, 'gitea')) ? [] : [installGitea()]),
])

async function installPackages(): Promise<void> {
  const canInstall = process.getuid?.() === 0 && has('apt-get')
  if (!canInstall) fail(`The tests need ${packages.join(', ')}. On Debian: sudo apt-get install ${packages.join(' ')}`)
  console.log(`Installing ${packages.join(', ')} for the tests`)
  await run(['apt-get', 'update', '-qq'])
  await run(['apt-get', 'install', '-y', '-qq', '--no-install-recommends', ...packages])
}

async function installModule(name: string): Promise<void> {
  if (go === undefined)
    fail(`The tests need ${name}, which Go builds: install Go (https://go.dev/dl, or Debian: apt-get install golang-go).`)
  console.log(`Building ${name} for the tests`)
  await run([go, 'install', name])
}

/** Its module replaces others, so that Go builds it only from its own folder. It takes five minutes of a processor. */
async function installGitea(): Promise<void> {
  if (go === undefined) fail('The tests need gitea, which Go builds: install Go (https://go.dev/dl, or Debian: apt-get install golang-go).')
  console.log('Building gitea for the tests')
  await run([go, 'mod', 'download', `code.gitea.io/gitea@${GITEA_VERSION}`], '/')
  const modules = (await new Response(Bun.spawn([go, 'env', 'GOMODCACHE']).stdout).text()).trim()
  const tags = ['-trimpath', '-ldflags', '-s -w', '-tags', 'sqlite sqlite_unlock_notify']
  await run([go, 'build', ...tags, '-o', join(goFolder, 'gitea'), '.'], join(modules, `code.gitea.io/gitea@${GITEA_VERSION}`))
}

async function installPython(name: string, version: string): Promise<void> {
  const folder = `node_modules/.cache/${name}-${version}`
  if (isInstalled(folder, `${name}-${version}`)) return
  console.log(`Installing ${name} for the tests`)
  const isMade = (await Bun.spawn(['python3', '-m', 'venv', '--clear', folder], { stdout: 'ignore', stderr: 'inherit' }).exited) === 0
  if (!isMade) fail(`The tests need ${name}, for which Python makes a virtual environment. On Debian: sudo apt-get install python3-venv`)
  await run([join(folder, 'bin/pip'), 'install', '--quiet', '--disable-pip-version-check', `${name}==${version}`])
}

/** The record is what pip writes last. */
function isInstalled(folder: string, release: string): boolean {
  return existsSync(folder) && !new Bun.Glob(`lib/python*/site-packages/${release}.dist-info/RECORD`).scanSync({ cwd: folder }).next().done
}

function has(program: string): boolean {
  return Bun.which(program) !== null || existsSync(`/usr/sbin/${program}`)
}

async function run(argv: string[], cwd = '.'): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const exitCode = await Bun.spawn(argv, { cwd, stdout: 'ignore', stderr: 'inherit', env }).exited
  if (exitCode !== 0) fail(`${argv.join(' ')} failed with code ${exitCode}.`)
}

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}

/** Debian 12 has one that is too old for us, so that of Debian 13 comes with its own libraries, beside the machine's. */
async function installPgbouncer(): Promise<void> {
  console.log('Installing PgBouncer for the tests')
  const into = dirname(pgbouncer)
  mkdirSync(dirname(into), { recursive: true })
  const work = mkdtempSync(`${into}-`)
  chmodSync(work, 0o755)
  const [lists, root] = [join(work, 'lists'), join(work, 'root')]
  mkdirSync(join(lists, 'partial'), { recursive: true })
  const source = 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian trixie main\n'
  writeFileSync(join(work, 'sources.list'), source)
  const places = { 'Dir::Etc::sourcelist': join(work, 'sources.list'), 'Dir::Etc::sourceparts': '/dev/null', 'Dir::State::lists': lists }
  const options = [...Object.entries(places).flatMap(([name, value]) => ['-o', `${name}=${value}`]), '-o', 'APT::Sandbox::User=root']
  await run(['apt-get', ...options, '-o', `Dir::Cache=${join(work, 'cache')}`, 'update', '-qq'])
  await run(['apt-get', ...options, 'download', '-qq', ...pgbouncerPackages], work)
  for (const name of readdirSync(work).filter((file) => file.endsWith('.deb'))) await run(['dpkg-deb', '-x', join(work, name), root])
  const libraries = join(
    into,
    'root/usr/lib',
    new Bun.Glob('*-linux-gnu').scanSync({ cwd: join(root, 'usr/lib'), onlyFiles: false }).next().value ?? '',
  )
  const loader = new Bun.Glob('ld-linux-*').scanSync({ cwd: libraries.replace(into, work) }).next().value ?? ''
  const words = ['exec', join(libraries, loader), '--library-path', libraries, join(into, 'root/usr/sbin/pgbouncer'), '"$@"']
  writeFileSync(join(work, 'pgbouncer'), `#!/bin/sh\n${words.join(' ')}\n`, { mode: 0o755 })
  for (const name of ['lists', 'cache']) rmSync(join(work, name), { recursive: true, force: true })
  renameSync(work, into)
}
