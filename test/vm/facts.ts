import { expect } from 'vitest'
import { type Guest, PAYLOAD_DIR, TOKEN } from './guest.ts'

/** Something that must be true of `cpd` on a real machine; each builds on those before. */
export interface Fact {
  title: string
  holds(guest: Guest): Promise<void>
  /** Without it nothing after it can be looked at. */
  isNeeded?: true
}

const MIB = 1024 * 1024

interface Instance {
  id: string
  status: string
  restarts: number
}

const instancesOf = async (guest: Guest, name: string): Promise<Instance[]> => {
  const [found] = await guest.api<{ service: { id: string } }[]>(`/services?name=${name}`)
  return guest.api(`/services/${found?.service.id}/instances`)
}

/** The control group of the one instance of a service. */
async function groupOf(guest: Guest, name: string): Promise<string> {
  const [instance] = await instancesOf(guest, name)
  return guest.sh(`find /sys/fs/cgroup -type d -name ${instance?.id}`)
}

/** Pids as the host sees them, in order. */
const membersOf = async (guest: Guest, name: string): Promise<string> => guest.sh(`sort -n ${await groupOf(guest, name)}/cgroup.procs`)

const deploy = (guest: Guest, app: string, options = '') =>
  guest.sh(`cpctl deploy ${PAYLOAD_DIR}/apps/${app} --no-guard ${options}`, 300_000)

export const facts: readonly Fact[] = [
  {
    title: 'the guest has systemd, one hierarchy of control groups, nftables and user quotas',
    isNeeded: true,
    async holds({ sh }) {
      await sh(`mkdir -p ${PAYLOAD_DIR} && tar -xf /dev/vdb -C ${PAYLOAD_DIR}`)
      expect(await sh('ps -p 1 -o comm=; stat -fc %T /sys/fs/cgroup; quotaon -pu / || true; nft list ruleset')).toMatch(
        /^systemd\ncgroup2fs\nuser quota on \/ .*is on/,
      )
    },
  },
  {
    title: 'cpd install makes a unit that serves, and says again that nothing has changed',
    isNeeded: true,
    async holds({ sh, eventually }) {
      await sh(`mkdir -p -m 700 /etc/cpd && echo 'SERVICE_API_TOKEN="${TOKEN}"' >/etc/cpd/cpd.env`)
      expect(await sh(`${PAYLOAD_DIR}/cpd install`)).toContain('systemctl enable --now cpd.service')
      await eventually('curl -sSf http://127.0.0.1:8400/api/health')
      expect(await sh('systemctl is-active cpd; systemctl is-enabled cpd; stat -c %a /etc/cpd/cpd.env /var/lib/cpd')).toBe(
        'active\nenabled\n600\n711',
      )
      expect(await sh(`${PAYLOAD_DIR}/cpd install`)).toMatch(/^unchanged executable/m)
    },
  },
  {
    title: 'cpd doctor holds every guarantee',
    async holds({ machine }) {
      const { exitCode, output } = await machine.run(`${PAYLOAD_DIR}/cpd doctor --quick --data /var/lib/cpd`, 600_000)
      expect({ exitCode, output }).toMatchObject({ exitCode: 0 })
      expect(output).not.toMatch(/MISSING|BROKEN/)
    },
  },
  {
    title: 'a static site and an app are deployed and served at port 80',
    isNeeded: true,
    async holds(guest) {
      await deploy(guest, 'static-plain')
      await deploy(guest, 'hello-js')
      await deploy(guest, 'hungry', '--plan starter')
      expect(await guest.visit('static-plain')).toContain('<')
      expect(await guest.visit('hello-js')).toBe('hello-js 1')
    },
  },
  {
    title: "the limits of the plan stand in the app's control group",
    async holds(guest) {
      const group = await groupOf(guest, 'hungry')
      expect(await guest.sh(`cd ${group}; cat memory.max memory.swap.max cpu.max pids.max`)).toBe(`${512 * MIB}\n0\n50000 100000\n256`)
    },
  },
  {
    title: 'an app that spins gets the processor time of its plan',
    async holds(guest) {
      const group = await groupOf(guest, 'hungry')
      const used = `awk '/^usage_usec/ {print $2}' ${group}/cpu.stat`
      const [before, , after] = (
        await guest.sh(`${used}; curl -sS -m 60 -H 'Host: hungry.localhost' http://127.0.0.1/spin; echo; ${used}`)
      ).split('\n')
      expect((Number(after) - Number(before)) / 6e6).toBeLessThan(0.6)
      expect(Number(await guest.sh(`awk '/^nr_throttled/ {print $2}' ${group}/cpu.stat`))).toBeGreaterThan(0)
    },
  },
  {
    title: 'an app that fills its memory is killed by the kernel, told so, and started again',
    async holds(guest) {
      await guest.sh(`curl -s -m 60 -H 'Host: hungry.localhost' http://127.0.0.1/memory || true`)
      await guest.eventually(`test "$(curl -sS -m 5 -H 'Host: hungry.localhost' http://127.0.0.1/)" = hungry`)
      const [instance] = await instancesOf(guest, 'hungry')
      expect(instance?.restarts).toBeGreaterThan(0)
      expect(await guest.sh('cpctl events hungry 2>/dev/null || cpctl services events hungry')).toMatch(/memory/i)
      expect(await guest.visit('hello-js')).toBe('hello-js 1')
    },
  },
  {
    title: 'an app that forks is held to the processes of its plan',
    async holds(guest) {
      const group = await groupOf(guest, 'hungry')
      await guest.visit('hungry', '/forks')
      await guest.eventually(`test "$(awk '/^max/ {print $2}' ${group}/pids.events)" -gt 0`)
      expect(Number(await guest.sh(`cat ${group}/pids.current`))).toBeLessThanOrEqual(256)
    },
  },
  {
    title: 'an app is held to its share of the disk by a quota of its user',
    async holds(guest) {
      // Its user, what it has, no soft limit, and a hard one.
      expect(await guest.sh('repquota -un /')).toMatch(/^#\d{10} +\S+ +\d+ +0 +[1-9]\d+/m)
    },
  },
  {
    title: 'a private service is reached by its name from its siblings, and two apps have the same port',
    async holds(guest) {
      await deploy(guest, 'asker')
      await guest.sh(`cpctl deploy ${PAYLOAD_DIR}/apps/hello-js -s inner --type private_service --no-guard`, 300_000)
      await guest.eventually(`curl -sS -m 30 -H 'Host: asker.localhost' http://127.0.0.1/inner:10000 | grep -q '^hello-js 1'`)
    },
  },
  {
    title: 'instances outlive systemctl restart, as the same processes, and no request fails meanwhile',
    async holds(guest) {
      const before = await membersOf(guest, 'hello-js')
      const ask = `curl -sS -m 20 -o /dev/null -w '%{http_code}\\n' -H 'Host: hello-js.localhost' http://127.0.0.1/`
      await guest.sh(
        `(while ! test -e /tmp/enough; do ${ask}; done >/tmp/codes 2>&1; touch /tmp/asked) & sleep 1; systemctl restart cpd; sleep 5`,
      )
      await guest.eventually('curl -sSf http://127.0.0.1:8400/api/health')
      await guest.sh('touch /tmp/enough')
      await guest.eventually('test -e /tmp/asked')
      expect(await guest.sh('sort /tmp/codes | uniq -c | sed "s/^ *[0-9]* //"; rm /tmp/enough /tmp/asked')).toBe('200')
      expect(await membersOf(guest, 'hello-js')).toBe(before)
    },
  },
  {
    title: 'apps are served while the unit is stopped, and after kill -9 of it systemd starts it again',
    async holds(guest) {
      const before = await membersOf(guest, 'hello-js')
      await guest.sh('systemctl stop cpd')
      expect(await guest.sh('systemctl is-active cpd || true')).toBe('inactive')
      expect(await guest.visit('hello-js')).toBe('hello-js 1')
      await guest.sh('systemctl start cpd')
      await guest.eventually('curl -sSf http://127.0.0.1:8400/api/health')
      await guest.sh('systemctl kill --signal KILL --kill-whom=main cpd')
      await guest.eventually('test "$(systemctl show -p NRestarts --value cpd)" -gt 0 && curl -sSf http://127.0.0.1:8400/api/health')
      expect(await membersOf(guest, 'hello-js')).toBe(before)
      expect(await guest.visit('hello-js')).toBe('hello-js 1')
    },
  },
  {
    title: 'after a reboot everything is back by itself',
    async holds(guest) {
      await guest.machine.reboot()
      await guest.eventually(`test "$(curl -sS -m 5 -H 'Host: hello-js.localhost' http://127.0.0.1/)" = 'hello-js 1'`)
      await guest.eventually(`curl -sS -m 30 -H 'Host: asker.localhost' http://127.0.0.1/inner:10000 | grep -q '^hello-js 1'`)
      expect(await guest.visit('static-plain')).toContain('<')
      expect(await guest.sh('journalctl -b -u cpd -o cat | grep -c " ready: "')).toBe('1')
    },
  },
  {
    title: 'cpd uninstall ends everything and leaves data and settings only',
    async holds({ sh }) {
      await sh('cpd uninstall', 300_000)
      expect(
        await sh('ls -A /var/lib/cpd | grep -c . ; find /sys/fs/cgroup -name "cpd-*"; nft list tables; ip -br link | grep cpd || true'),
      ).toMatch(/^\d+$/)
      expect(await sh('pgrep -fa "[c]pd|[s]erver.js" || true')).toBe('')
      expect(
        await sh('ls /etc/cpd/cpd.env; ls /etc/systemd/system/cpd.service /usr/local/bin/cpd 2>&1 | grep -c "No such file" || true'),
      ).toBe('/etc/cpd/cpd.env\n2')
    },
  },
]
