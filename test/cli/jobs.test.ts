import { afterEach, describe, expect, test } from 'vitest'
import { Interrupted } from '../../cli/base/error.ts'
import { AppError } from '../../shared/error.ts'
import type { Job } from '../../shared/job.ts'
import type { Log } from '../../shared/log.ts'
import { exampleService, pageOf, serviceId } from './examples.ts'
import { type Answers, type FakeServer, type LogSocket, startFakeServer } from './fake-server.ts'
import { cpctl, type TerminalOptions } from './terminal.ts'

let server: FakeServer
afterEach(async () => {
  expect(server.breaches).toEqual([])
  await server.stop()
})

const jobId = 'job-0b1c2d3e4f5g6h7i8j9k'
const job = (fields: Partial<Job> = {}): Job => ({
  id: jobId,
  serviceId,
  startCommand: 'npm run migrate',
  planId: 'starter',
  status: 'pending',
  createdAt: '2026-02-01T11:59:00.000Z',
  ...fields,
})
const over = (fields: Partial<Job> = {}): Job =>
  job({ status: 'succeeded', exitCode: 0, startedAt: '2026-02-01T11:59:01.000Z', finishedAt: '2026-02-01T11:59:03.500Z', ...fields })
const withoutExit = ({ exitCode: _, ...rest }: Job): Job => rest
const line = (index: number): Log => ({
  id: `line-${index}`,
  message: `line ${index}`,
  timestamp: `2026-02-01T11:59:0${index}.000000Z`,
  labels: [
    { name: 'resource', value: serviceId },
    { name: 'instance', value: jobId },
  ],
})
const logPage = (logs: Log[]) => ({ hasMore: false, nextStartTime: 'x', nextEndTime: 'y', logs })

function serving(answers: Answers, webSocket: LogSocket = () => {}) {
  const always: Answers = {
    listServices: () => pageOf('service', [exampleService()]),
    getService: () => exampleService(),
    createJob: () => job(),
    listLogs: () => logPage([]),
  }
  server = startFakeServer({ ...always, ...answers }, { webSocket })
  return (argv: string[], options: TerminalOptions = {}) =>
    cpctl(argv, { ...options, env: { CPCTL_URL: server.url, CPCTL_TOKEN: 'cpk_test' } })
}

/** Answers that come one after the other; the last one stays. */
function inTurn<T>(...answers: T[]): () => T {
  return () => (answers.length > 1 ? answers.shift() : answers[0]) as T
}

const bodyOf = (id: string) => server.received.find((received) => received.id === id)?.body

describe('cpctl run', () => {
  test('shows what the command writes, each line once, and nothing else, and ends with its exit code', async () => {
    const run = serving(
      {
        getJob: inTurn(job({ status: 'running' }), over({ status: 'failed', exitCode: 3, reason: 'It exited with code 3.' })),
        listLogs: () => logPage([line(1), line(2), line(3)]),
      },
      (_, socket) => {
        for (const index of [1, 2]) socket.send(JSON.stringify(line(index)))
      },
    )
    const outcome = await run(['run', 'web', '--plan', 'standard', '--', 'npm', 'run', 'migrate', "it's all"])
    expect(outcome).toMatchObject({ exitCode: 3, stdout: 'line 1\nline 2\nline 3\n', stderr: '' })
    expect(bodyOf('createJob')).toEqual({ startCommand: "npm run migrate 'it'\\''s all'", planId: 'standard' })
  })

  test('ends with 0 when the command succeeds, and takes one word as a command line', async () => {
    const run = serving({ getJob: () => over() })
    expect(await run(['run', 'web', '--', 'echo $HOME | wc -c'])).toMatchObject({ exitCode: 0, stdout: '', stderr: '' })
    expect(bodyOf('createJob')).toEqual({ startCommand: 'echo $HOME | wc -c' })
  })

  test('says why where there is no exit code', async () => {
    const run = serving({ getJob: () => withoutExit(over({ status: 'failed', reason: 'It ran out of memory.' })) })
    expect(await run(['run', 'web', '--', 'hog'])).toMatchObject({
      exitCode: 1,
      stderr: 'Error: It did not succeed. It ran out of memory.\n',
    })
  })

  test('says so when somebody else canceled it', async () => {
    const run = serving({ getJob: () => over({ status: 'canceled', exitCode: 143, reason: 'The service was suspended.' }) })
    const stderr = 'Error: It was canceled. The service was suspended.\n'
    expect(await run(['run', 'web', '--', 'sleep 60'])).toMatchObject({ exitCode: 1, stderr })
  })

  test('detached prints the id, and how to go on', async () => {
    const run = serving({})
    expect(await run(['run', 'web', '--detach', '--', 'true'])).toMatchObject({
      exitCode: 0,
      stdout: `${jobId}\n`,
      stderr: `To see what it writes: cpctl jobs logs ${jobId} --service web --follow\n`,
    })
    expect(JSON.parse((await run(['run', 'web', '-d', '--json', '--', 'true'])).stdout)).toEqual(job())
  })

  test('prints the job as it ended with --json, and its exit code is the command’s all the same', async () => {
    const ended = over({ status: 'failed', exitCode: 7, reason: 'It exited with code 7.' })
    const run = serving({ getJob: () => ended, listLogs: () => logPage([line(1)]) })
    const outcome = await run(['run', 'web', '--json', '--', 'exit 7'])
    expect(outcome.exitCode).toBe(7)
    expect(JSON.parse(outcome.stdout)).toEqual(ended)
  })

  test('cancels the job on Ctrl-C, shows what it writes until its end, and ends with 130', async () => {
    const controller = new AbortController()
    let isCanceled = false
    const run = serving({
      getJob: () => {
        // Pressed while it runs.
        setTimeout(() => controller.abort(new Interrupted()), 20)
        return isCanceled ? over({ status: 'canceled', exitCode: 143, reason: 'Canceled on request.' }) : job({ status: 'running' })
      },
      cancelJob: () => {
        isCanceled = true
        return job({ status: 'running' })
      },
      listLogs: () => logPage(isCanceled ? [line(1)] : []),
    })
    const outcome = await run(['run', 'web', '--', 'sleep 60'], { interrupted: controller.signal })
    expect(outcome).toMatchObject({ exitCode: 130, stdout: 'line 1\n' })
    expect(outcome.stderr).toBe(`\nCanceling ${jobId}. Ctrl-C again leaves it.\n`)
    expect(server.received.filter(({ id }) => id === 'cancelJob')).toHaveLength(1)
  })

  test('needs a command, and tells what the server refuses', async () => {
    const run = serving({
      createJob: () => {
        throw new AppError('conflict', 'The service is suspended. Resume it first.')
      },
    })
    expect(await run(['run', 'web'])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("missing required argument 'command'") })
    expect(await run(['run', 'web', '--', 'true'])).toMatchObject({
      exitCode: 1,
      stderr: 'Error: The service is suspended. Resume it first.\n',
    })
  })
})

describe('cpctl jobs', () => {
  test('list shows jobs as a table, or says how to run one', async () => {
    const jobs = [job(), over(), over({ status: 'failed', exitCode: 2, startCommand: 'npm test' })]
    const run = serving({ listJobs: inTurn(pageOf('job', jobs), []) })
    expect((await run(['jobs', 'list', 'web', '--status', 'failed,pending'], { columns: 200 })).stdout).toBe(
      `JOB                       STATUS     EXIT  CREATED   TOOK  COMMAND
job-0b1c2d3e4f5g6h7i8j9k  pending       -  1m ago       -  npm run migrate
job-0b1c2d3e4f5g6h7i8j9k  succeeded     0  1m ago   2.5 s  npm run migrate
job-0b1c2d3e4f5g6h7i8j9k  failed        2  1m ago   2.5 s  npm test
`,
    )
    expect(server.received.at(-1)?.query).toMatchObject({ status: ['failed', 'pending'] })
    expect((await run(['jobs', 'ls', 'web'])).stderr).toBe('web has had no such jobs. Run one with cpctl run web -- <command>.\n')
  })

  test('get finds a job by its id alone', async () => {
    const run = serving({ getJob: () => over() })
    const { stdout } = await run(['jobs', 'get', jobId])
    expect(stdout).toContain('npm run migrate')
    expect(stdout).toMatch(/Exit code:\s+0/)
    expect(await run(['jobs', 'get', 'dep-1'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('dep-1 is not the id of a job.'),
    })
  })

  test('cancel says whether it is over already', async () => {
    const run = serving({ getJob: () => job(), cancelJob: inTurn(job({ status: 'running' }), over({ status: 'canceled' })) })
    expect((await run(['jobs', 'cancel', jobId, '-s', 'web'])).stdout).toBe(`Canceling ${jobId} of web.\n`)
    expect((await run(['jobs', 'cancel', jobId, '-s', 'web'])).stdout).toBe(`Canceled ${jobId} of web.\n`)
  })

  test('logs shows what was written, and follows a job to its exit code', async () => {
    const run = serving({ getJob: () => over({ status: 'failed', exitCode: 9 }), listLogs: () => logPage([line(1)]) })
    expect(await run(['jobs', 'logs', jobId, '-s', 'web'])).toMatchObject({ exitCode: 0, stdout: 'line 1\n' })
    expect(await run(['jobs', 'logs', jobId, '-s', 'web', '-f'])).toMatchObject({ exitCode: 9, stdout: 'line 1\n' })
  })
})
