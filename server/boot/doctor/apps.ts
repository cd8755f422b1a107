import type { Limits } from '../../engines/port/workload.ts'

/** Each command is a service's own and runs in that service's sandbox only; each file is put into the folder the command starts in. */
export interface DoctorApp {
  name: string
  command: string
  files: Record<string, string>
  limits: Limits
  /** The private network that it is started in, its own unless named. */
  network?: string
}

const MIB = 1024 * 1024
/** Enough to be a nuisance, and little enough for a machine of 1 GiB. */
export const STRESSOR_LIMITS: Limits = { cpu: 0.5, memoryBytes: 192 * MIB, pids: 128 }

/** Attacker and neighbour are started in it, and the neighbour is taken out: as a service whose environment was isolated after its start. */
export const SHARED_NETWORK = 'doctor-shared'

const NEIGHBOUR_LIMITS: Limits = { cpu: 1, memoryBytes: 512 * MIB, pids: 256 }

export const neighbourApp = (mark: string): DoctorApp => ({
  name: 'neighbour',
  command: 'exec bun server.js',
  files: {
    'server.js': `
for (const dir of ['/tmp', '/dev/shm']) await Bun.write(dir + '/${mark}', 'mine').catch(() => {})
Bun.serve({ hostname: '0.0.0.0', port: Number(process.env.PORT), fetch: () => new Response('here') })
console.log('secret in the logs')
`,
    'private.txt': 'the code of the neighbour',
  },
  limits: NEIGHBOUR_LIMITS,
  network: SHARED_NETWORK,
})

/** Each process makes two more, for ever. A shell that can make none any more begins anew in the place of the old one, which needs none. */
const FORKS_SCRIPT = `
trap 'exec /bin/sh "$0"' EXIT
bomb() { bomb | bomb & }
while :; do bomb; done
`

export const forkBomb: DoctorApp = {
  name: 'forks',
  command: 'exec /bin/sh ./forks 2>/dev/null',
  files: { forks: FORKS_SCRIPT },
  limits: STRESSOR_LIMITS,
}

export const memoryStressor: DoctorApp = {
  name: 'memory',
  command: 'while :; do tail /dev/zero; done 2>/dev/null',
  files: {},
  limits: STRESSOR_LIMITS,
}

export const cpuStressor = (cores: number): DoctorApp => ({
  name: 'processor',
  command: `for n in $(seq ${cores + 2}); do while :; do :; done & done; wait`,
  files: {},
  limits: STRESSOR_LIMITS,
})

export const lingerer = (mark: string): DoctorApp => ({
  name: 'lingerer',
  command: 'exec /bin/sh ./linger',
  files: {
    linger: `
trap '' TERM INT HUP QUIT USR1 USR2
for n in 1 2 3; do
  setsid sleep ${mark} &
  (setsid setsid sleep ${mark} >/dev/null 2>&1 &)
done
echo lingering
while :; do sleep ${mark}; done
`,
  },
  limits: STRESSOR_LIMITS,
})

export const diskFiller = (sizeMb: number): DoctorApp => ({
  name: 'disk',
  command: `exec head -c ${sizeMb}M /dev/zero >/tmp/full`,
  files: {},
  limits: STRESSOR_LIMITS,
})
