import {
  closeSync,
  fstatSync,
  ftruncateSync,
  linkSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Attempt, refuse, type Try } from './attempt.ts'
import { type FolderTarget, NEXT_SOURCE, type Targets } from './targets.ts'

export function fileTries(targets: Targets): Try[] {
  return [
    {
      id: 'read-control-plane',
      title: "reads the control plane's databases, master key and state",
      guarantee: 'private-files',
      attempts: [...targets.controlFiles.map(reading), ...targets.controlFiles.flatMap(readingThroughLinks)],
    },
    {
      id: 'read-neighbour',
      title: "reads another service's code, secret files, home or logs",
      guarantee: 'private-files',
      attempts: targets.neighbourFiles.map(reading),
    },
    {
      id: 'reach-next-release',
      title: 'reads or changes what its own next release is being built of',
      guarantee: 'private-tmp',
      attempts: [reading, writing].map((attempt) => ({ what: 'its next release', act: () => attempt(nextSource()).act() })),
    },
    {
      id: 'list-folders',
      title: "lists the control plane's folders or another service's",
      guarantee: 'private-files',
      attempts: targets.folders.map(listing),
    },
    {
      id: 'write-files',
      title: "changes the control plane's files, another service's or the machine's",
      guarantee: 'private-files',
      attempts: [...targets.writable, '/etc', '/usr/bin', '/root'].map(writing),
    },
    {
      id: 'read-tmp',
      title: "sees another service's /tmp or /dev/shm",
      guarantee: 'private-tmp',
      attempts: targets.neighbourTmpFiles.map(reading),
    },
    {
      id: 'read-devices',
      title: 'reads disks or memory of the machine as they are',
      guarantee: 'no-privileges',
      attempts: ['/dev/mem', '/dev/kmem', '/dev/port', ...blockDevices()].map((path) => opening(path, 'r')),
    },
    {
      id: 'stretch-output',
      title: 'sets the length of a file of the control plane through the output it was given',
      guarantee: 'no-privileges',
      attempts: [1, 2].map((descriptor) => ({
        what: `descriptor ${descriptor}`,
        act: () => setLength(descriptor),
      })),
    },
    {
      id: 'read-shadow',
      title: "reads the machine's own secrets",
      guarantee: 'own-user',
      attempts: ['/etc/shadow', '/etc/gshadow', '/proc/kcore'].map(reading),
    },
  ]
}

const nextSource = (): string => join(dirname(homedir()), 'builds', NEXT_SOURCE.folder, NEXT_SOURCE.file)

const reading = (path: string): Attempt => ({ what: path, act: () => `read ${readFileSync(path).length} bytes` })

function readingThroughLinks(path: string): Attempt[] {
  const through = (kind: string, link: (target: string, path: string) => void): Attempt => ({
    what: `${path} through a ${kind} link`,
    act: () => {
      const dir = mkdtempSync(join(tmpdir(), 'links-'))
      try {
        link(path, join(dir, 'link'))
        return `read ${readFileSync(join(dir, 'link')).length} bytes`
      } finally {
        rmSync(dir, { recursive: true })
      }
    },
  })
  return [through('symbolic', symlinkSync), through('hard', linkSync)]
}

const listing = ({ path, ownNames }: FolderTarget): Attempt => ({
  what: path,
  act: () => {
    const strange = readdirSync(path).filter((name) => !ownNames.includes(name))
    return strange.length === 0 ? refuse('nothing in it') : `saw ${strange.length} names`
  },
})

/** Files are opened for writing and left as they are; in folders a file is made and taken away. */
const writing = (path: string): Attempt => ({
  what: path,
  act: () => {
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return opening(path, 'r+').act()
    const made = join(path, `.red-team-${process.pid}`)
    writeFileSync(made, '', { flag: 'wx' })
    rmSync(made)
    return 'made a file in it'
  },
})

function opening(path: string, flags: string): Attempt {
  return {
    what: path,
    act: () => {
      closeSync(openSync(path, flags))
      return 'opened'
    },
  }
}

const blockDevices = (): string[] =>
  readdirSync('/dev')
    .map((name) => join('/dev', name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isBlockDevice())

function setLength(descriptor: number): string {
  ftruncateSync(descriptor, fstatSync(descriptor).size)
  return 'set its length'
}
