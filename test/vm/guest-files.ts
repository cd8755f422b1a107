/** What is in the guest: Debian's own packages, and the few files that make it a machine that can be told what to do. */

export const packages = [
  'systemd',
  'systemd-sysv',
  'dbus',
  'udev',
  'kmod',
  'linux-image-cloud-amd64',
  'initramfs-tools',
  'util-linux',
  'e2fsprogs',
  'quota',
  'iproute2',
  'nftables',
  'procps',
  'curl',
  'ca-certificates',
]

/** The virtio port's name, through which the guest is told what to run. */
export const COMMAND_PORT = 'commands'

interface GuestFile {
  path: string
  mode: number
  content: string
}

/**
 * Reads a command per line, runs it with bash, and answers with its exit code and its output, both as base64 so that a line is a message.
 * The output goes through a file: what a command leaves in the background must not hold up the answer.
 */
const AGENT = `#!/bin/bash
until [ -e /dev/virtio-ports/${COMMAND_PORT} ]; do sleep 0.2; done
exec 3<>/dev/virtio-ports/${COMMAND_PORT}
echo "ready $(cat /proc/sys/kernel/random/boot_id)" >&3
while read -r command <&3; do
  bash -c "$(base64 -d <<<"$command")" </dev/null >/run/agent-output 2>&1 3>&-
  echo "done $? $(base64 -w 0 /run/agent-output)" >&3
done
`

const AGENT_UNIT = `[Unit]
Description=Runs what the host asks for
StartLimitIntervalSec=0

[Service]
ExecStart=/usr/local/sbin/agent
Environment=HOME=/root
KillMode=process
Restart=always
RestartSec=1
TasksMax=infinity

[Install]
WantedBy=multi-user.target
`

const PLAIN = 0o644

export const guestFiles: readonly GuestFile[] = [
  { path: 'etc/fstab', mode: PLAIN, content: '/dev/vda / ext4 defaults,usrquota 0 1\n' },
  { path: 'etc/hostname', mode: PLAIN, content: 'guest\n' },
  { path: 'etc/hosts', mode: PLAIN, content: '127.0.0.1 localhost\n127.0.1.1 guest\n' },
  { path: 'etc/machine-id', mode: PLAIN, content: '' },
  { path: 'etc/systemd/network/10-all.network', mode: PLAIN, content: '[Match]\nName=en* eth*\n\n[Network]\nDHCP=ipv4\n' },
  // The root file system cannot be mounted with its quotas before these are there.
  { path: 'etc/initramfs-tools/modules', mode: PLAIN, content: 'quota_v2\nquota_tree\n' },
  { path: 'etc/systemd/system/agent.service', mode: PLAIN, content: AGENT_UNIT },
  { path: 'usr/local/sbin/agent', mode: 0o755, content: AGENT },
]

const WANTED = 'etc/systemd/system/multi-user.target.wants'

export const guestLinks: readonly { path: string; target: string }[] = [
  // Quotas are on since the mount, which it takes for a failure.
  { path: 'etc/systemd/system/quotaon.service', target: '/dev/null' },
  { path: `${WANTED}/agent.service`, target: '/etc/systemd/system/agent.service' },
  { path: `${WANTED}/systemd-networkd.service`, target: '/lib/systemd/system/systemd-networkd.service' },
]
