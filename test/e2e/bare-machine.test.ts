import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { uvPin } from '../../server/builders/toolchains/uv/pin.ts'
import { type BareMachine, openBareMachine } from '../support/bare-machine.ts'
import { type Compiled, startCompiled } from '../support/compiled.ts'
import { deployFolder, newestDeploy, serviceNamed } from '../support/compiled-steps.ts'
import { GO_PROGRAM } from '../support/go-program.ts'
import { keep, placeKept } from '../support/kept-toolchain.ts'
import { packMachinePython } from '../support/machine-python.ts'
import { type PythonDownloads, startPythonDownloads } from '../support/python-downloads.ts'

/** All that the platform and the builds of these apps start of the system's: of coreutils, findutils, grep, util-linux, iproute2, nftables, e2fsprogs. */
const PROGRAMS = [
  ...['sh', 'true', 'env', 'sleep', 'nice', 'sync', 'timeout'],
  ...['setsid', 'setpriv', 'unshare', 'prlimit', 'choom', 'mount', 'umount'],
  ...['ip', 'nft'],
  ...['du', 'find', 'fallocate', 'mkfs.ext4', 'e2fsck', 'resize2fs', 'losetup'],
  ...['cat', 'cp', 'cut', 'dd', 'dirname', 'grep', 'head', 'ls', 'mkdir', 'mktemp', 'mv', 'realpath', 'rm', 'sed', 'sha256sum'],
  ...['sort', 'stat', 'tail', 'touch', 'uname', 'xargs'],
]
const NODE = '22.11.0'
const GO = '1.27.4'
const PNPM = '9.15.4'
const PNPM_HASH =
  'sha512.b2dc20e2fc72b3e18848459b37359a32064663e5627a51e4c74b2c29dd8e8e0491483c3abb40789cfd578bf362fb6ba8261b05f0387d76792ed6e23ea3b1b6a0'
const KEPT = [`node-${NODE}`, `pnpm-${PNPM}+${PNPM_HASH}`, 'npm-10.9.4', `go-${GO}`, `uv-${uvPin.version}`]

const PYTHON_PROGRAM = `import os, platform, six
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f"{platform.python_version()} {six.__version__}".encode())

HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
`

describe.runIf(process.getuid?.() === 0)('on a machine without node, npm, bun, git, python3, pip, go and cargo', () => {
  let machine: BareMachine
  let downloads: PythonDownloads
  let pythonVersion: string
  let cpd: Compiled
  const apps = mkdtempSync(join(tmpdir(), 'cpd-apps-'))

  beforeAll(async () => {
    const python = await packMachinePython()
    pythonVersion = python.version
    downloads = await startPythonDownloads([pythonVersion], async () => python.archive)
    machine = await openBareMachine(PROGRAMS)
    cpd = await startCompiled({
      executables: machine.executables,
      baseEnv: { ...machine.env, UV_PYTHON_DOWNLOADS_JSON_URL: downloads.url },
      cwd: '/',
    })
    for (const entry of KEPT) await placeKept(cpd.paths.toolchains, entry)
  }, 60_000)

  afterAll(async () => {
    rmSync(apps, { recursive: true })
    for (const entry of KEPT) await keep(cpd.paths.toolchains, entry)
    await cpd.stop()
    await downloads.stop()
    machine.remove()
  })

  const folderOf = (name: string, files: Record<string, string>): string => {
    const dir = join(apps, name)
    mkdirSync(dir)
    for (const [path, text] of Object.entries(files)) writeFileSync(join(dir, path), text)
    return dir
  }
  const deploy = (name: string, files: Record<string, string>, args: string[] = []): Promise<string> =>
    deployFolder(cpd, folderOf(name, files), args).catch(async (e) => {
      console.log((await cpd.cpctl(['logs', name])).stdout)
      throw e
    })
  const answerOf = async (name: string) => await (await cpd.appFetch(name)).text()

  test('an app of Node.js gets the Node.js and the package manager that it asks for, and its packages', async () => {
    const packageManager = `pnpm@${PNPM}+${PNPM_HASH}`
    const packageJson = { packageManager, dependencies: { express: '5.1.0' }, scripts: { start: 'node app.js' }, engines: { node: NODE } }
    const app = "require('express')().get('/', (_, res) => res.send(process.version)).listen(process.env.PORT)"
    const log = await deploy('node-app', { 'package.json': JSON.stringify(packageJson), 'app.js': app })
    expect(log).toContain(`engines asks for Node.js ${NODE}, and has it.`)
    expect(log).toContain('==> install: pnpm install')
    expect(await answerOf('node-app')).toBe(`v${NODE}`)
  }, 240_000)

  test('an app of Go is compiled by the Go that go.mod names', async () => {
    const log = await deploy('go-app', { 'go.mod': `module example.com/bare\n\ngo 1.22\n\ntoolchain go${GO}\n`, 'main.go': GO_PROGRAM })
    expect(log).toContain(`go.mod asks for Go ${GO}, and has it.`)
    expect(await answerOf('go-app')).toBe(`go${GO}`)
  }, 300_000)

  test('an app of Python gets the Python that it asks for, by uv, and its packages', async () => {
    const files = { '.python-version': pythonVersion, 'requirements.txt': 'six==1.17.0\n', 'main.py': PYTHON_PROGRAM }
    const log = await deploy('python-app', files)
    expect(downloads.asked).toContain(`/${pythonVersion}.tar.gz`)
    expect(log).toContain(`.python-version asks for Python ${pythonVersion}, and has it.`)
    expect(await answerOf('python-app')).toBe(`${pythonVersion} 1.17.0`)
  }, 240_000)

  test('a site is published', async () => {
    await deploy('site', { 'index.html': '<h1>bare</h1>' }, ['--type', 'static_site'])
    expect(await answerOf('site')).toBe('<h1>bare</h1>')
  })

  test.each<[name: string, files: Record<string, string>, told: string, install: string]>([
    ['rust', { 'Cargo.toml': '[package]\nname = "x"\n' }, 'Rust is not installed on this server', 'install it (https://rustup.rs'],
    ['maven', { 'pom.xml': '', mvnw: '' }, 'This is a Java app with a Maven wrapper (mvnw)', 'install a JDK (Debian: apt install'],
    ['gradle', { 'build.gradle': '', gradlew: '' }, 'This is a Java app with a Gradle wrapper (gradlew)', 'install a JDK (Debian: apt'],
    ['ruby', { Gemfile: '', 'package.json': '{}' }, 'This is a Ruby app (Gemfile)', 'install Ruby and Bundler (Debian: apt install'],
    ['php', { 'composer.json': '{}' }, 'This is a PHP app (composer.json)', 'install PHP and Composer (Debian: apt install'],
    ['elixir', { 'mix.exs': '' }, 'This is an Elixir app (mix.exs)', 'install Elixir (Debian: apt install elixir)'],
    ['deno', { 'deno.json': '{}', 'main.ts': '' }, 'This is a Deno app (deno.json)', 'install Deno (https://deno.com)'],
  ])(
    '%s, which nothing is there for, fails before anything is fetched or built, with what to install',
    async (name, files, told, install) => {
      const { exitCode, stdout, stderr } = await cpd.cpctl(['deploy', folderOf(name, files), '--service', name])
      const { status, reason = '' } = await newestDeploy(cpd, (await serviceNamed(cpd, name)).id)
      expect({ exitCode, status }).toEqual({ exitCode: 1, status: 'build_failed' })
      expect(reason).toMatch(new RegExp(`^(Build failed: )?${RegExp.escape(told)}`))
      expect(reason).toContain(install)
      expect(`${stdout}${stderr}`).toContain(reason)
      expect(stdout).not.toMatch(/==> (Fetching|Detected)/)
    },
  )
})
