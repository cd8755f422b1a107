import { afterAll, beforeAll, expect, test } from 'vitest'
import { spawnProcess } from '../../server/platform/process/spawn.ts'
import type { Job } from '../../shared/job.ts'
import { type AppFolder, copyApp } from '../support/app-folder.ts'
import { type Compiled, startCompiled } from '../support/compiled.ts'
import { cpctl, deployFolder, serviceNamed } from '../support/compiled-steps.ts'
import { until } from '../support/until.ts'

let cpd: Compiled
let app: AppFolder
let serviceId: string
beforeAll(async () => {
  cpd = await startCompiled()
  app = copyApp('hello-js')
  await deployFolder(cpd, app.dir, ['--env', 'COLOUR=blue', '--shutdown-delay', '2'])
  serviceId = (await serviceNamed(cpd, 'hello-js')).id
})
afterAll(async () => {
  app.remove()
  await cpd.stop()
})

const jobs = async (): Promise<Job[]> => (await cpd.api<{ job: Job }[]>(`/services/${serviceId}/jobs`)).body.map(({ job }) => job)

/** `cpctl run` in a process of its own. */
function startRun(...words: string[]) {
  const { argv, env } = cpd.cpctlCommand(['run', 'hello-js', '--', ...words])
  const child = spawnProcess(argv, { env, stdout: 'pipe', stderr: 'pipe' })
  const output = { stdout: '', stderr: '' }
  const read = async (name: 'stdout' | 'stderr') => {
    const decoder = new TextDecoder()
    for await (const bytes of child[name] ?? []) output[name] += decoder.decode(bytes, { stream: true })
  }
  const finished = Promise.all([read('stdout'), read('stderr')])
  return {
    output,
    interrupt: () => child.kill('SIGINT'),
    async exitCode(): Promise<number | null> {
      await finished
      return (await child.exited).exitCode
    },
  }
}

/** Prints 1, 2, … 60 over three seconds, and exits with 7. */
const counting = 'i=0; while [ $i -lt 60 ]; do i=$((i+1)); echo $i; sleep 0.05; done; exit 7'
const counted = `${Array.from({ length: 60 }, (_, index) => index + 1).join('\n')}\n`

test('cpctl run shows what a command writes in the live release, and ends with its exit code', async () => {
  const ended = await cpd.cpctl(['run', 'hello-js', '--', 'cat VERSION; echo $COLOUR; echo oops >&2; exit 3'])
  expect(ended).toMatchObject({ exitCode: 3, stdout: `${app.read('VERSION').trim()}\nblue\noops\n`, stderr: '' })
  expect(await cpctl(cpd, 'run', 'hello-js', '--', 'printf', '%s\\n', "it's", '$HOME', 'a b')).toBe("it's\n$HOME\na b\n")
  expect(await cpctl(cpd, 'jobs', 'list', 'hello-js')).toMatch(/failed +3 .*cat VERSION/)
})

test('a job goes on while the control plane is killed: it is adopted, its exit code recorded, and cpctl run misses no line', async () => {
  const run = startRun(counting)
  await until('it counts', () => run.output.stdout.includes('10\n'))
  await cpd.kill9()
  await Bun.sleep(500)
  await cpd.start()
  expect(await run.exitCode()).toBe(7)
  expect(run.output.stdout).toBe(counted)
  const [job] = await jobs()
  expect(job).toMatchObject({ status: 'failed', exitCode: 7, reason: 'It exited with code 7.' })
  expect(await cpctl(cpd, 'jobs', 'logs', job?.id ?? '', '-s', 'hello-js')).toBe(counted)
})

test('a job that ends while the control plane is dead is concluded by the next one, with all of its log', async () => {
  const run = startRun(counting)
  await until('it counts', () => run.output.stdout.includes('10\n'))
  await cpd.kill9()
  await Bun.sleep(5000)
  await cpd.start()
  expect(await run.exitCode()).toBe(7)
  expect(run.output.stdout).toBe(counted)
  expect((await jobs())[0]).toMatchObject({ status: 'failed', exitCode: 7 })
})

test('Ctrl-C cancels the job and waits for its end', async () => {
  const run = startRun('trap "echo cleaned up; exit 0" TERM; echo up; while :; do sleep 0.05; done')
  await until('it runs', () => run.output.stdout.includes('up'))
  run.interrupt()
  expect(await run.exitCode()).toBe(130)
  expect(run.output.stdout).toContain('cleaned up\n')
  expect(run.output.stderr).toContain('Canceling job-')
  expect((await jobs())[0]).toMatchObject({ status: 'canceled', reason: 'Canceled on request.' })
})

test('a second Ctrl-C leaves the job to its cancel at once', async () => {
  const run = startRun('trap "" TERM; echo up; while :; do sleep 0.05; done')
  await until('it runs', () => run.output.stdout.includes('up'))
  run.interrupt()
  await until('it is being canceled', () => run.output.stderr.includes('Canceling job-'))
  run.interrupt()
  expect(await run.exitCode()).toBe(130)
  await until('it has been killed', async () => (await jobs())[0]?.status === 'canceled')
})
