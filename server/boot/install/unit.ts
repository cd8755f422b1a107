export interface UnitOptions {
  executable: string
  envFile: string
  user?: string | undefined
}

/**
 * What no part of the platform needs of root. Options that give the unit a mount namespace of its own (ProtectSystem, PrivateTmp …) would put
 * apps that outlive a restart into another one than those started after it, and a seccomp filter is inherited by every app.
 */
const capabilitiesGivenUp = [
  'CAP_AUDIT_CONTROL',
  'CAP_BLOCK_SUSPEND',
  'CAP_MAC_ADMIN',
  'CAP_MAC_OVERRIDE',
  'CAP_SYSLOG',
  'CAP_SYS_BOOT',
  'CAP_SYS_MODULE',
  'CAP_SYS_RAWIO',
  'CAP_SYS_TIME',
  'CAP_WAKE_ALARM',
]

const asRoot = [
  'User=root',
  `CapabilityBoundingSet=~${capabilitiesGivenUp.join(' ')}`,
  'SystemCallFilter=~@module @raw-io @reboot @swap',
  'SystemCallErrorNumber=EPERM',
  'SystemCallArchitectures=native',
  'LockPersonality=yes',
  'RestrictRealtime=yes',
]

const asUser = (user: string): string[] => [
  `User=${user}`,
  'AmbientCapabilities=CAP_NET_BIND_SERVICE',
  'CapabilityBoundingSet=CAP_NET_BIND_SERVICE',
  'NoNewPrivileges=yes',
  'SystemCallArchitectures=native',
  'LockPersonality=yes',
  'RestrictRealtime=yes',
]

/**
 * Ingress and apps outlive the unit, so its process alone is killed (KillMode), an app killed for its memory is no failure of it (OOMPolicy),
 * and the control groups below are its own (Delegate). It keeps its pid through `cpd upgrade`.
 */
export function unitText({ executable, envFile, user }: UnitOptions): string {
  return `[Unit]
Description=cpd: deploys and runs the services of this machine
Wants=network-online.target
After=network-online.target
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart=${executable} serve
EnvironmentFile=${envFile}
KillMode=process
Restart=always
RestartSec=1
TimeoutStopSec=60
OOMPolicy=continue
Delegate=yes
LimitNOFILE=1048576
LimitCORE=0
TasksMax=infinity
${(user === undefined ? asRoot : asUser(user)).join('\n')}

[Install]
WantedBy=multi-user.target
`
}
