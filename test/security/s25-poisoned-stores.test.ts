import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { servicePathsOf } from '../../server/platform/paths.ts'
import { createService, deployApp, packApp } from '../support/apps.ts'
import { type Platform, startPlatform } from '../support/platform.ts'
import { buildLogOf } from './hostile-tenant.ts'

const VERSION = '1.99.0'

/** Stands for a Go that was fetched: what it builds prints what the store and the caches of its service held. */
const GO = `#!/bin/sh
mkdir -p .release "$GOMODCACHE"
printf '#!/bin/sh\\nexec sleep 1000\\n' > .release/app && chmod 755 .release/app
echo "the store holds: $(cat "\${0%/*}/../VERSION")"
echo "the cache holds: $(cat "$GOMODCACHE/kept" 2>&1)"
echo good > "$GOMODCACHE/kept"
`

/** All that a service's own user can try on a path, by it and by ways around what is shown. */
const attack = (paths: readonly string[]): string => `for path in ${paths.join(' ')}; do
  for way in "$path" "/proc/1/root$path" "/proc/$PPID/root$path" "/proc/self/cwd/../../../../../..$path"; do
    echo poison > "$way" || echo poison > "$way/poison" || cp /bin/sh "$way/bin/go"
    mkdir -p "$way/go-2.0.0/bin"
    ln -s /etc "$way/link"; ln "$way" twin
    chmod -R 777 "$way"; mv "$way" "$way.moved"; rm -rf "$way"/* "$way"
  done
  mount -o remount,bind,rw "$path"; umount -l "$path"
  unshare --user --map-root-user --mount sh -c "mount -o remount,bind,rw $path; echo poison > $path/poison"
done >/dev/null 2>&1
cat ${paths.map((path) => `${path}/go/pkg/mod/kept`).join(' ')} | sed 's/good/STOLEN/'
true`

let platform: Platform
let shared: string[]

describe.runIf(process.getuid?.() === 0)('S25: a build', () => {
  beforeAll(async () => {
    platform = await startPlatform({}, { parent: '/var/lib' })
    const { toolchain, toolchains } = platform.context.paths
    const entry = join(toolchains, `go-${VERSION}`)
    mkdirSync(join(entry, 'bin'), { recursive: true })
    writeFileSync(join(entry, 'VERSION'), `go${VERSION}\n`)
    writeFileSync(join(entry, 'bin/go'), GO, { mode: 0o755 })
    writeFileSync(join(toolchains, `node-linux-${process.arch}.json`), '{"of":"everybody"}')
    shared = [toolchain, toolchains]
  })
  afterAll(() => platform.close())

  const deployGo = async (id: string) =>
    await deployApp(platform, id, await packApp('hello-js', { 'go.mod': `module x\n\ngo 1.22\n\ntoolchain go${VERSION}\n`, 'main.go': '' }))
  const create = (name: string, changes: Record<string, unknown> = {}) =>
    createService(platform, { name, type: 'background_worker', serviceDetails: { runtime: 'go', ...changes } })

  test('can change nothing that a build of another service gets: toolchains, their lists, our own programs, caches and kept dependencies', async () => {
    const victim = await create('victim')
    await deployGo(victim)
    const caches = servicePathsOf(platform.context.paths, victim).cache
    const kept = join(caches, 'dependencies/0123456789abcdef')
    mkdirSync(kept, { recursive: true })
    writeFileSync(join(kept, 'package.js'), 'good')
    const before = [...shared, caches].flatMap(listOf)

    const targets = [...shared, ...shared.flatMap((dir) => readdirSync(dir).map((name) => join(dir, name))), caches, kept]
    const buildCommand = `${attack(targets)}\necho attacked; mkdir .release && printf '#!/bin/sh\\nexec sleep 1000\\n' > .release/app && chmod 755 .release/app`
    const attacker = await create('attacker', { envSpecificDetails: { buildCommand, startCommand: './.release/app' } })
    await deployGo(attacker)
    const log = await buildLogOf(platform, attacker)
    expect(log).toContain('attacked')
    expect(log).not.toContain('STOLEN')
    expect([...shared, caches].flatMap(listOf)).toEqual(before)

    await deployGo(victim)
    const told = await buildLogOf(platform, victim)
    expect(told).toContain(`the store holds: go${VERSION}`)
    expect(told).toContain('the cache holds: good')
  }, 120_000)
})

/** All that lies below a folder: names, modes, owners, and what files and links hold. */
const listOf = (root: string): string[] =>
  ['', ...readdirSync(root, { recursive: true, encoding: 'utf8' }).sort()].map((path) => {
    const found = lstatSync(join(root, path))
    const held = found.isFile() ? Bun.hash(readFileSync(join(root, path))) : found.isSymbolicLink() ? readlinkSync(join(root, path)) : ''
    return `${join(root, path)} ${found.mode} ${found.uid} ${found.nlink} ${held}`
  })
