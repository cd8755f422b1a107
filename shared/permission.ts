/** Every operation names the one permission it needs; roles are sets of these. */
export const permissions = {
  'services.read': 'See services, their instances, events and settings without secret values',
  'services.create': 'Create services',
  'services.update': 'Change settings of a service',
  'services.operate': 'Restart, scale, suspend and resume a service',
  'services.delete': 'Delete a service',
  'deploys.read': 'See deploys and their states',
  'deploys.create': 'Upload source, start and cancel deploys, roll back',
  'jobs.run': 'Run and cancel one-off jobs and runs of cron jobs',
  'domains.manage': 'Add, verify and remove custom domains of a service',
  'disks.manage': 'Add, change, snapshot, restore and delete disks',
  'datastores.read': 'See databases and key-value stores, without their passwords',
  'datastores.create': 'Create databases and key-value stores',
  'datastores.update': 'Change, restart, suspend and resume databases and key-value stores',
  'datastores.delete': 'Delete databases and key-value stores',
  'datastores.credentials': 'See and change how databases and key-value stores are connected to, passwords included',
  'datastores.backups': 'Take, export, import and restore backups of databases and key-value stores',
  'env.read': 'See values of environment variables and contents of secret files',
  'env.write': 'Set environment variables and secret files',
  'logs.read': 'Read and follow logs',
  'metrics.read': 'See metrics: what services use and the requests they get',
  'projects.manage': 'Create, change and delete projects and environments',
  'environments.manage_protected': 'Delete, suspend, reveal and roll back what is in a protected environment, and end its protection',
  'shell.open': 'Open a shell in a service, which shows its variables and secret files',
  'workspace.read': 'See the workspace',
  'workspace.manage': 'Rename and delete the workspace, and set its rules',
  'workspaces.create': 'Create further workspaces',
  'roles.read': 'See roles and the permissions they hold',
  'roles.manage': 'Create, change and delete roles',
  'team.read': 'See the members of the workspace',
  'team.manage': 'Invite members, change their roles, help them back in, and remove them',
  'apikeys.manage': 'Create, list and revoke API keys',
  'audit.read': 'Read and verify the audit log',
  'webhooks.manage': 'Create, change, test and delete webhooks',
  'sourcehosts.read': 'See connected source hosts and the repositories there',
  'sourcehosts.manage': 'Connect and disconnect accounts of source hosts',
  'notifications.manage': 'Choose what people are told of, and where',
} as const

export type Permission = keyof typeof permissions

export const permissionNames = Object.keys(permissions) as Permission[]

export type BuiltInRole = 'admin' | 'developer' | 'viewer' | 'billing'

const readOnly: Permission[] = [
  'services.read',
  'datastores.read',
  'deploys.read',
  'logs.read',
  'metrics.read',
  'workspace.read',
  'roles.read',
  'team.read',
]

/** What is about people and the workspace itself, and so the administrators' business. */
const administrative: Permission[] = [
  'workspace.manage',
  'workspaces.create',
  'roles.manage',
  'team.manage',
  'apikeys.manage',
  'audit.read',
  'webhooks.manage',
  'sourcehosts.manage',
  'notifications.manage',
]

/** What developers leave to others: an administrator hands it to whom they trust with production. */
const guarded: Permission[] = ['environments.manage_protected']

/** Who is confined to some services holds none of these, whatever their role, and so can hand out nothing. */
export const workspaceWide: ReadonlySet<Permission> = new Set([
  ...administrative,
  'services.create',
  'datastores.create',
  'projects.manage',
  'sourcehosts.read',
])

export const builtInRoles: Record<BuiltInRole, { description: string; permissions: readonly Permission[] }> = {
  admin: { description: 'Everything', permissions: permissionNames },
  developer: {
    description: 'Builds, deploys and operates services',
    permissions: permissionNames.filter((name) => !administrative.includes(name) && !guarded.includes(name)),
  },
  viewer: { description: 'Looks, and changes nothing', permissions: readOnly },
  billing: { description: 'Sees the workspace and what it costs', permissions: ['workspace.read'] },
}

/** Whether `held` contains everything in `wanted`: the rule that nobody grants what they lack. */
export function holdsAll(held: Iterable<Permission>, wanted: Iterable<Permission>): boolean {
  const set = new Set(held)
  return [...wanted].every((permission) => set.has(permission))
}
