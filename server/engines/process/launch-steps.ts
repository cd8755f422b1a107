/**
 * The parts of the launch that need no program of their own, as lists of system calls for the step program: into the namespaces, and, when
 * the mounts are made, out of every right. Ids are numbers throughout: a look at /etc/passwd, or at whatever nsswitch.conf names, would be a
 * look at files of the tenant by then.
 */

import type { Priority } from '../port/workload.ts'
import { renderBpf } from './call-filter/bpf.ts'
import { callFilter } from './call-filter/filter.ts'
import type { CgroupView } from './cgroups/cgroups.ts'
import { OWN_ARCHITECTURE } from './step-program/numbers.ts'
import type { Argument, Step } from './step-program/steps.ts'

const CLONE_NEWNS = 0x2_0000
const CLONE_NEWCGROUP = 0x200_0000
const CLONE_NEWIPC = 0x800_0000
const CLONE_NEWNET = 0x4000_0000

const AT_FDCWD = -100
const O_CLOEXEC = 0x8_0000
const OPEN_TREE_CLONE = 1
const AT_EMPTY_PATH = 0x1000
const MOVE_MOUNT_F_EMPTY_PATH = 4
const MOUNT_ATTR_IDMAP = 0x10_0000
const NAMESPACE_DESCRIPTOR = 21
const TREE_DESCRIPTOR = 20
const MS_RDONLY = 1
const MS_NOSUID = 2
const MS_NODEV = 4
const MS_REMOUNT = 32
const MS_BIND = 4096
const INERT = 2 | 4 | 8
const MS_SLAVE = 1 << 19
const MS_REC = 1 << 14
const TIOCSCTTY = 0x540e

const PR_SET_NO_NEW_PRIVS = 38
const PR_CAPBSET_DROP = 24
const PR_CAP_AMBIENT = 47
const PR_CAP_AMBIENT_CLEAR_ALL = 4
const CAPABILITY_VERSION_3 = 0x2008_0522
/** The kernel's two words hold so many; numbers it does not know it refuses. */
const CAPABILITIES = 64

const KEYCTL_JOIN_SESSION_KEYRING = 1
const SECCOMP_SET_MODE_FILTER = 1
/** Without it older kernels slow a filtered process down against a weakness that its own code would have to be attacked through. */
const SECCOMP_FILTER_FLAG_SPEC_ALLOW = 4

const PRIO_PROCESS = 0
const IOPRIO_WHO_PROCESS = 1
const IOPRIO_LOWEST = (2 << 13) | 7
const NICE = 10

export interface EnterPlan {
  hasTerminal: boolean
  networkPath: string | undefined
  hasOwnMounts: boolean
  layer?: LayerMount | undefined
}

export interface LayerMount {
  folder: string
  upper: string
  work: string
  userNamespace: string
}

export function enterSteps({ hasTerminal, networkPath, hasOwnMounts, layer }: EnterPlan): Step[] {
  return [
    step('setsid', [], 'No session could be made'),
    ...(hasTerminal ? [step('ioctl', [0, TIOCSCTTY, 1], 'The terminal could not be taken')] : []),
    ...(networkPath === undefined ? [] : networkSteps(networkPath)),
    ...(hasOwnMounts ? mountSteps(layer) : []),
  ]
}

export function mountSteps(layer: LayerMount | undefined): Step[] {
  return [
    step('unshare', [CLONE_NEWNS | CLONE_NEWIPC], 'No mount namespace could be made'),
    step('mount', ['none', '/', 0, MS_REC | MS_SLAVE, 0], 'The mounts of the machine could not be let go of'),
    ...(layer === undefined ? [] : layerSteps(layer)),
  ]
}

function networkSteps(path: string): Step[] {
  const opened = step('openat', [AT_FDCWD, path, O_CLOEXEC], `The network namespace ${path} could not be opened`)
  return [opened, step('setns', [{ resultOf: opened }, CLONE_NEWNET], `The network namespace ${path} could not be entered`)]
}

function layerSteps({ folder, upper, work, userNamespace }: LayerMount): Step[] {
  const failure = `No writable layer could be put over ${folder}`
  const namespace = step('openat', [AT_FDCWD, userNamespace, O_CLOEXEC], failure)
  const tree = step('open_tree', [AT_FDCWD, folder, OPEN_TREE_CLONE | O_CLOEXEC], failure)
  const mapping = Buffer.concat([uint32s(MOUNT_ATTR_IDMAP, 0, 0, 0, 0, 0), uint32s(NAMESPACE_DESCRIPTOR, 0)])
  const layers = `lowerdir=${escaped(folder)},upperdir=${escaped(upper)},workdir=${escaped(work)}`
  return [
    namespace,
    step('dup3', [{ resultOf: namespace }, NAMESPACE_DESCRIPTOR, O_CLOEXEC], failure),
    tree,
    step('dup3', [{ resultOf: tree }, TREE_DESCRIPTOR, O_CLOEXEC], failure),
    step('mount_setattr', [TREE_DESCRIPTOR, '', AT_EMPTY_PATH, mapping, mapping.length], failure),
    step('move_mount', [TREE_DESCRIPTOR, '', AT_FDCWD, folder, MOVE_MOUNT_F_EMPTY_PATH], failure),
    step('mount', ['overlay', folder, 'overlay', MS_NOSUID | MS_NODEV, layers], failure),
  ]
}

const escaped = (path: string): string => path.replaceAll(/[\\,:]/g, (character) => `\\${character}`)

export interface LeavePlan {
  user: { uid: number; gid: number } | undefined
  hasCapabilities: boolean
  hasKeyrings: boolean
  priority: Priority
  cwd: string
  filter: { allowsUserNamespaces: boolean } | undefined
  cgroupView: CgroupView | undefined
}

export function leaveSteps({ user, hasCapabilities, hasKeyrings, priority, cwd, filter, cgroupView }: LeavePlan): Step[] {
  return [
    step('close_range', [3, -1, 0]),
    ...PRIORITY_STEPS[priority],
    // Root joins it, whose share of keys is large; where all run as one user there is none to be kept apart from.
    step('keyctl', [KEYCTL_JOIN_SESSION_KEYRING, 0], user !== undefined && hasKeyrings ? 'No keyring of its own could be made' : undefined),
    ...(cgroupView === undefined ? [] : cgroupSteps(cgroupView)),
    ...(hasCapabilities ? [step('unshare', [CLONE_NEWCGROUP]), ...boundingSteps()] : []),
    ...(user === undefined ? [] : idSteps(user)),
    step('capset', [uint32s(CAPABILITY_VERSION_3, 0), uint32s(0, 0, 0, 0, 0, 0)], 'Capabilities could not be given up'),
    step('prctl', [PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0]),
    NO_NEW_PRIVILEGES,
    step('chdir', [cwd], `The folder ${cwd} could not be entered`),
    ...(filter === undefined ? [] : filterSteps(filter)),
  ]
}

/** Last of all mounts: the groups have been entered by their paths just before. */
function cgroupSteps({ covered, own }: CgroupView): Step[] {
  const failure = 'The control groups of others could not be covered'
  return [
    ...covered.map((path) => step('mount', ['groups', path, 'tmpfs', INERT | MS_RDONLY, 'size=4k,mode=755'], failure)),
    ...own.flatMap(({ source, target }) => [
      step('mount', [source, target, 0, MS_BIND, 0], failure),
      step('mount', [0, target, 0, MS_REMOUNT | MS_BIND | MS_RDONLY | INERT, 0], failure),
    ]),
  ]
}

function boundingSteps(): Step[] {
  return Array.from({ length: CAPABILITIES }, (_, capability) => step('prctl', [PR_CAPBSET_DROP, capability, 0, 0, 0]))
}

function idSteps({ uid, gid }: { uid: number; gid: number }): Step[] {
  return [
    step('setgroups', [0, 0], 'Groups could not be given up'),
    step('setresgid', [gid, gid, gid], `Could not become group ${gid}`),
    step('setresuid', [uid, uid, uid], `Could not become user ${uid}`),
  ]
}

/** Bars the way to privileges, as who has none must, and sets the filter as `seccomp(2)` takes it: a 16-bit number of instructions, and where they stand. */
export function filterSteps({ allowsUserNamespaces }: { allowsUserNamespaces: boolean }): Step[] {
  const program = callFilter({ architecture: OWN_ARCHITECTURE, allowsUserNamespaces })
  const bytes = Buffer.alloc(16)
  bytes.writeUInt16LE(program.length, 0)
  const described = { bytes, pointers: [{ at: 8, to: renderBpf(program) }] }
  const args = [SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, described]
  return [NO_NEW_PRIVILEGES, step('seccomp', args, 'The filter of system calls was refused')]
}

const NO_NEW_PRIVILEGES = step('prctl', [PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0], 'The way back to privileges could not be barred')

const PRIORITY_STEPS: Record<Priority, Step[]> = {
  live: [],
  background: [step('setpriority', [PRIO_PROCESS, 0, NICE]), step('ioprio_set', [IOPRIO_WHO_PROCESS, 0, IOPRIO_LOWEST])],
}

function step(call: Step['call'], args: readonly Argument[], failure?: string | undefined): Step {
  return { call, args, ...(failure !== undefined && { failure }) }
}

function uint32s(...values: number[]): Uint8Array {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value, index * 4)
  return bytes
}
