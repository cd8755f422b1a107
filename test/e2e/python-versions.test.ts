import { afterAll, beforeAll, expect, test } from 'vitest'
import { DEFAULT_TOOLCHAIN_PATH, findInterpreters, ownHomes } from '../../server/builders/toolchains/toolchains.ts'
import { uvPin } from '../../server/builders/toolchains/uv/pin.ts'
import { type AppFolder, copyApp } from '../support/app-folder.ts'
import { type Compiled, startCompiled } from '../support/compiled.ts'
import { cpctl, deployFolder } from '../support/compiled-steps.ts'
import { keep, placeKept } from '../support/kept-toolchain.ts'

const UV = `uv-${uvPin.version}`

let cpd: Compiled
let app: AppFolder

beforeAll(async () => {
  cpd = await startCompiled()
  await placeKept(cpd.paths.toolchains, UV)
  app = copyApp('hello-js')
  app.write('package.json', '{}')
  app.write('main.py', PROGRAM)
})
afterAll(async () => {
  await keep(cpd.paths.toolchains, UV)
  app.remove()
  await cpd.stop()
})

const PROGRAM = `import importlib.util, os, platform
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f"{platform.python_version()} {importlib.util.find_spec('six') is not None}".encode())

HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
`

const deploy = (name: string, ...args: string[]) =>
  deployFolder(cpd, app.dir, ['--service', name, '--runtime', 'python', '--start-command', 'python main.py', ...args])
const answer = async (name: string) => await (await cpd.appFetch(name)).text()

test('apps run on the Python that each asks for, with what uv or their own command has installed', async () => {
  const own = await findInterpreters({ searchPath: DEFAULT_TOOLCHAIN_PATH, homes: ownHomes() })
  const versions = [...new Set(own.map(({ version }) => version ?? ''))]
  for (const version of versions.slice(0, 2)) {
    const name = `on-${version.replaceAll('.', '-')}`
    app.write('.python-version', version)
    app.write('requirements.txt', 'six==1.17.0\n')
    const log = await deploy(name)
    expect(log).toContain('Detected python with uv')
    expect(log).toContain(`.python-version asks for Python ${version}, and has it.`)
    expect(await answer(name)).toBe(`${version} True`)
  }
  await deploy('by-pip', '--build-command', 'pip install six==1.17.0')
  expect(await answer('by-pip')).toMatch(/ True$/)
}, 240_000)

test('what is not to be had is refused with what is there', async () => {
  app.write('.python-version', '3.99')
  const { exitCode, stdout, stderr } = await cpd.cpctl(['deploy', app.dir, '--service', 'never', '--runtime', 'python'])
  expect(exitCode).not.toBe(0)
  expect(`${stdout}${stderr}`).toMatch(/needs Python 3\.99 \(\.python-version\), and this server has 3\./)
}, 60_000)

test('no service can write to what was fetched', async () => {
  const path = `${cpd.paths.toolchains}/${UV}/bin`
  expect(await cpctl(cpd, 'run', 'by-pip', '--', 'sh', '-c', `touch ${path}/uv 2>&1 || echo refused`)).toContain('refused')
}, 60_000)
