import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AppFolder, copyApp } from '../support/app-folder.ts'
import { type Compiled, startCompiled } from '../support/compiled.ts'
import { cpctl, deployFolder } from '../support/compiled-steps.ts'
import { GO_PROGRAM } from '../support/go-program.ts'
import { keep, placeKept } from '../support/kept-toolchain.ts'

/** Newer than machines have it, whose own would do otherwise. */
const VERSION = '1.27.4'
const ENTRY = `go-${VERSION}`

let cpd: Compiled
let app: AppFolder

beforeAll(async () => {
  cpd = await startCompiled({ env: { CGO_ENABLED: '0', CP_BUILD_PASS: 'CGO_ENABLED,NODE_EXTRA_CA_CERTS,SSL_CERT_FILE,*_PROXY,GO*' } })
  await placeKept(cpd.paths.toolchains, ENTRY)
  app = copyApp('go-module')
  app.write('go.mod', `module example.com/told\n\ngo 1.22\n\ntoolchain go${VERSION}\n`)
  app.write('main.go', GO_PROGRAM)
})
afterAll(async () => {
  await keep(cpd.paths.toolchains, ENTRY)
  app.remove()
  await cpd.stop()
})

test('an app is built by the Go that its go.mod names, which is fetched once', async () => {
  await deployFolder(cpd, app.dir, ['--service', 'told'])
  expect(await (await cpd.appFetch('told')).text()).toBe(`go${VERSION}`)
  const second = await deployFolder(cpd, app.dir, ['--service', 'told'])
  expect(second).not.toContain('Fetching')
  expect(second).toMatch(new RegExp(`Runtime: Go ${VERSION} \\(.*/toolchains/${ENTRY}/bin\\)`))
  expect(second).toContain(`go.mod asks for Go ${VERSION}, and has it.`)
  expect(readdirSync(cpd.paths.toolchains).filter((name) => !name.endsWith('.json'))).toEqual([ENTRY])
}, 300_000)

test('no service can write to what was fetched', async () => {
  const path = `${cpd.paths.toolchains}/${ENTRY}`
  const attempts = [`touch ${path}/bin/go`, `ln -s /etc ${path}/src/x`, `mv ${path}/bin ${path}/bon`, `chmod 777 ${path}`]
  for (const attempt of attempts)
    expect(await cpctl(cpd, 'run', 'told', '--', 'sh', '-c', `${attempt} 2>&1 || echo refused`)).toContain('refused')
}, 120_000)
