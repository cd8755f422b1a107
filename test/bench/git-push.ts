import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Deploy } from '../../shared/deploy.ts'
import type { Service } from '../../shared/service.ts'
import { type BenchApp, buildMs, withEachApp } from './deploy.ts'
import { median, pathOf, type RunningServer, TOKEN } from './running-server.ts'

const ROUNDS = 11
const GOAL_MS = 1000

/** `git push` to live beyond the build, from the start of git to its end, against `cpctl deploy` of the same folder. */
export const run = (): Promise<void> => withEachApp(measure)

async function measure(server: RunningServer, { name, folder, type }: BenchApp): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'cpd-bench-push-'))
  await cp(folder, dir, { recursive: true })
  const { service } = await server.call<{ service: Service }>(pathOf('createService'), {
    method: 'POST',
    body: JSON.stringify({ type, name: name.replaceAll(' ', '-') }),
  })
  const address = `${server.apiUrl}/git/${service.ownerId}/${service.id}.git`
  await git(dir, 'init', '-q', '-b', 'main')
  const pushes: number[] = []
  const deploys: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    await writeFile(join(dir, 'round.txt'), String(round))
    await git(dir, 'add', '-A')
    await git(dir, 'commit', '-qm', `Round ${round}`)
    pushes.push(await beyondBuild(server, service.id, () => git(dir, 'push', '-q', address, 'main')))
    deploys.push(await beyondBuild(server, service.id, () => cpctlDeploy(server, dir, service.id)))
  }
  await rm(dir, { recursive: true, force: true })
  const [push, deploy] = [median(pushes), median(deploys)]
  console.log(
    `${name.padEnd(12)} git push to live beyond the build ${push.toFixed(0)} ms (goal ${GOAL_MS}: ${push < GOAL_MS ? 'met' : 'MISSED'}), ` +
      `cpctl deploy ${deploy.toFixed(0)} ms, ratio ${(push / deploy).toFixed(2)}`,
  )
}

async function beyondBuild(server: RunningServer, serviceId: string, work: () => Promise<void>): Promise<number> {
  const begun = performance.now()
  await work()
  const elapsedMs = performance.now() - begun
  const [newest] = await server.call<{ deploy: Deploy }[]>(`${pathOf('listDeploys', { serviceId })}?limit=1`)
  return elapsedMs - (await buildMs(server, serviceId, newest?.deploy.id ?? ''))
}

const git = (dir: string, ...args: string[]): Promise<void> =>
  finished(['git', ...args], dir, {
    GIT_CONFIG_COUNT: '3',
    GIT_CONFIG_KEY_0: 'http.extraHeader',
    GIT_CONFIG_VALUE_0: `Authorization: Bearer ${TOKEN}`,
    GIT_CONFIG_KEY_1: 'user.name',
    GIT_CONFIG_VALUE_1: 'Bench',
    GIT_CONFIG_KEY_2: 'user.email',
    GIT_CONFIG_VALUE_2: 'bench@example.com',
  })

const cpctlDeploy = ({ apiUrl }: RunningServer, dir: string, serviceId: string): Promise<void> =>
  finished([resolve('dist/cpctl'), 'deploy', '--service', serviceId], dir, { CPCTL_URL: apiUrl, CPCTL_TOKEN: TOKEN })

async function finished(argv: string[], cwd: string, env: Record<string, string>): Promise<void> {
  const child = Bun.spawn(argv, { cwd, env: { ...process.env, ...env }, stdout: 'ignore', stderr: 'pipe' })
  const [said, exitCode] = await Promise.all([child.stderr.text(), child.exited])
  if (exitCode !== 0) throw new Error(`${argv[0]} ${argv[1]}: ${said}`)
}

if (import.meta.main) await run()
