import { afterEach, beforeEach, expect, test } from 'vitest'
import { isDeployRunning } from '../../shared/deploy.ts'
import { type AppFolder, copyApp } from '../support/app-folder.ts'
import { type Compiled, startCompiled } from '../support/compiled.ts'
import { cpctl, deployFolder, deploysOf, foldersOf, serviceNamed, settledInstances } from '../support/compiled-steps.ts'
import { commandLine, processesOf } from '../support/leftovers.ts'
import { startLoad } from '../support/load.ts'
import { until } from '../support/until.ts'

/** From the request on; a deploy of this app takes about as long as the last of them. */
const END_AFTER_MS = [2, 15, 40, 70, 100, 140, 190, 250, 330, 420]

let cpd: Compiled
let app: AppFolder

beforeEach(async () => {
  cpd = await startCompiled({ env: { CP_DRAIN_SECONDS: '2' } })
  app = copyApp('slow')
})

afterEach(async () => {
  app.remove()
  await cpd.stop()
})

const ends: [how: string, end: () => Promise<void>][] = [
  ['killed', () => cpd.kill9()],
  ['told to end', () => cpd.terminate()],
]

test.each(ends)(
  'wherever in a deploy the control plane is %s, no request is lost and the deploy comes to its end',
  async (how, end) => {
    await deployFolder(cpd, app.dir)
    const { id } = await serviceNamed(cpd, 'slow')
    await settledInstances(cpd, id, 1)
    const load = startLoad({ port: cpd.ingressPort, host: 'slow.localhost' })
    await load.answered(10)
    for (const [index, endAfterMs] of END_AFTER_MS.entries()) {
      const version = String(index + 2)
      app.setVersion(version)
      await deployFolder(cpd, app.dir, ['--detach'])
      await Bun.sleep(endAfterMs)
      await end()
      await cpd.start()
      await until('no deploy runs', async () => (await deploysOf(cpd, id)).every(({ status }) => !isDeployRunning(status)))
      expect((await cpd.appFetch('slow').then((answer) => answer.text())).trim()).toBe(`slow ${version}`)
      expect((await deploysOf(cpd, id)).map(({ status }) => status)).toEqual(['live', ...Array(index + 1).fill('deactivated')])
    }
    const [instance] = await settledInstances(cpd, id, 1)
    await cpctl(cpd, 'services', 'restart', 'slow')
    await end()
    await cpd.start()
    await until('the restart is through', async () => (await settledInstances(cpd, id, 1))[0]?.id !== instance?.id)
    await load.answered(10)
    await load.stop()
    expect(load.failures()).toEqual([])
    await until('what the deploys left is gone', () => {
      const { builds, output } = foldersOf(cpd, id)
      return builds.length === 0 && output.filter((name) => !name.endsWith('.build.log')).length === 1
    })
    const apps = processesOf(cpd.paths.data)
      .map(commandLine)
      .filter((line) => /^\S*(node|bun) server\.js$/.test(line))
    expect(apps).toHaveLength(1)
    console.info(`${how} anywhere: ${load.samples.length} requests, ${load.failures().length} failed at ${END_AFTER_MS.length + 1} moments`)
  },
  180_000,
)
