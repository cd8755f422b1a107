import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AppFolder, copyApp } from '../support/app-folder.ts'
import { type Compiled, startCompiled } from '../support/compiled.ts'
import { cpctl, deployFolder, newestDeploy, serviceNamed, settledInstances } from '../support/compiled-steps.ts'
import { startLoad } from '../support/load.ts'

let cpd: Compiled
let app: AppFolder

beforeAll(async () => {
  cpd = await startCompiled({ env: { CP_DRAIN_SECONDS: '1' } })
  app = copyApp('hello-js')
})

afterAll(async () => {
  app.remove()
  await cpd.stop()
})

const everySecondFails = (server: string): string =>
  server.replace(
    'createServer((request, response) => {',
    "let count = 0\ncreateServer((request, response) => {\n  if (request.url !== '/health' && count++ % 2 === 0) response.statusCode = 500",
  )

test('a release that answers 500 to half of the requests is taken back within its window, and users saw that window alone', async () => {
  await deployFolder(cpd, app.dir, ['--guard', '--health-check-path', '/health'])
  const { id } = await serviceNamed(cpd, 'hello-js')
  const [before] = await settledInstances(cpd, id, 1)
  const load = startLoad({ port: cpd.ingressPort, host: 'hello-js.localhost', ratePerSecond: 200 })
  await load.answered(200)

  app.setVersion('2')
  app.write('server.js', everySecondFails(app.read('server.js')))
  const { exitCode, stdout, stderr } = await cpd.cpctl(['deploy', app.dir, '--until-proven'])
  expect(exitCode).toBe(1)
  const failures = /\d+ of \d+ requests \(\d\d\.\d %\) of the new release failed/
  // On a busy machine it may be taken back before cpctl has seen it live.
  if (/hello-js is live at http.* after /.test(stdout)) {
    expect(stderr).toMatch(/It is watched for (30|2\d) s/)
    expect(stderr).toMatch(new RegExp(`The new release was taken back\\. ${failures.source}`))
  } else expect(stdout).toMatch(new RegExp(`Failed \\(update_failed\\)\\. ${failures.source}`))

  const from = load.samples.length
  await load.answered(400)
  await load.stop()
  const after = load.samples.slice(from).filter(({ failure }) => failure !== undefined)
  expect(after).toEqual([])
  const failed = load.samples.filter(({ failure }) => failure !== undefined)
  expect(failed.filter(({ failure }) => !failure?.startsWith('status 500: hello-js 2'))).toEqual([])
  const seenMs = (failed.at(-1)?.doneAt ?? 0) - (failed[0]?.sentAt ?? 0)
  expect(seenMs).toBeLessThan(30_000)
  console.info(`guarded-cutover: ${failed.length} of ${load.samples.length} requests failed, all within ${(seenMs / 1000).toFixed(1)} s`)

  expect(await newestDeploy(cpd, id)).toMatchObject({ status: 'update_failed' })
  expect((await settledInstances(cpd, id, 1)).map((instance) => instance.id)).toEqual([before?.id])
  expect(await cpctl(cpd, 'services', 'events', 'hello-js')).toMatch(/cutover_reverted .*\n(.*\n)*.*cutover_guarded /)
}, 120_000)
