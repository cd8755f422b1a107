import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** A copy of a sample app that a test may change. */
export interface AppFolder {
  dir: string
  setVersion(version: string): void
  read(file: string): string
  write(file: string, text: string): void
  remove(): void
}

export const fixtureDir = (app: string): string => resolve('test/fixtures/apps', app)

/** Copies a sample app; its folder has the app's name, as `cpctl deploy` names a service after its folder. */
export function copyApp(app: string): AppFolder {
  const parent = mkdtempSync(join(tmpdir(), 'cpd-app-'))
  const dir = join(parent, app)
  cpSync(fixtureDir(app), dir, { recursive: true })
  const write = (file: string, text: string) => writeFileSync(join(dir, file), text)
  return {
    dir,
    read: (file) => readFileSync(join(dir, file), 'utf8'),
    write,
    setVersion: (version) => write('VERSION', `${version}\n`),
    remove: () => rmSync(parent, { recursive: true, force: true }),
  }
}
