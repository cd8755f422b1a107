import { cpSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { runProcess } from '../../../server/platform/process/spawn.ts'

const JDBC = 'org.postgresql:postgresql:42.7.8'
const LIMIT_MS = 600_000

/** Brings the clients that are built elsewhere into the folder of an app: pgx as a program, pgjdbc with what runs it. */
export async function clientPrograms(dir: string): Promise<void> {
  const fixtures = resolve('test/fixtures/clients')
  cpSync(join(fixtures, 'java/Jdbc.java'), join(dir, 'Jdbc.java'))
  const env = { PATH: `${process.env.PATH}:/usr/local/go/bin`, HOME: process.env.HOME ?? '' }
  await made(['go', 'build', '-o', join(dir, 'pgx'), '.'], { cwd: join(fixtures, 'go'), env: { ...env, CGO_ENABLED: '0' } })
  const copying = ['-B', '-q', 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy', `-Dartifact=${JDBC}`]
  await made(['mvn', ...copying, `-DoutputDirectory=${dir}`, '-Dmdep.stripVersion=true'], { cwd: dir, env })
  cpSync(join(dir, 'postgresql.jar'), join(dir, 'pgjdbc.jar'))
}

async function made(argv: string[], options: { cwd: string; env: Record<string, string> }): Promise<void> {
  const { exitCode, stdout, stderr } = await runProcess(argv, { ...options, timeoutMs: LIMIT_MS })
  if (exitCode !== 0) throw new Error(`${argv.join(' ')} ended with ${exitCode}: ${stdout}${stderr}`)
}
