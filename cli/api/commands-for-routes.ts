import { type OperationId, operationIds, operationOf, operations } from '../../shared/operations/all.ts'

/** The command that does what an operation does. Words with a colon are parameters of its path. */
const commands: Partial<Record<OperationId, string>> = {
  beginTwoFactor: 'account two-factor enable',
  changePassword: 'account password',
  createDisk: 'disks create',
  createJob: 'run :serviceId',
  createWorkspace: 'workspaces create',
  leaveTeam: 'team leave',
  listApiKeys: 'keys list',
  listCustomDomains: 'domains list :serviceId',
  listDeploys: 'deploys list :serviceId',
  listDisks: 'disks list',
  listDiskSnapshots: 'disks snapshots :diskId',
  listEnvGroups: 'env-groups list',
  listEnvironments: 'environments list',
  listEvents: 'services events :serviceId',
  listWorkspaceEvents: 'events',
  listInstances: 'services instances :serviceId',
  listKeyValue: 'kv list',
  listJobs: 'jobs list :serviceId',
  listPermissions: 'permissions',
  listPostgres: 'postgres list',
  listPreviews: 'previews list :serviceId',
  listProjects: 'projects list',
  listRoles: 'roles list',
  listServices: 'services list',
  listSessions: 'sessions list',
  listTeamInvites: 'invites list',
  listTeamMembers: 'team list',
  listWebhooks: 'webhooks list',
  getSourceHostStatus: 'sourcehost status',
  getGithubInstall: 'sourcehost connect github',
  listSourceHostRepos: 'sourcehost repos',
  removeTwoFactor: 'account two-factor disable',
  updateDisk: 'disks update :diskId',
  updateWebhook: 'webhooks update :webhookId',
  updateTeamMember: 'team role :memberId',
  uploadSource: 'deploy --service :serviceId',
}

const route = /\b(GET|POST|PUT|PATCH|DELETE) (\/v1\/[^\s,;:?)`'"]*[^\s,;:?)`'".])/g

/** A message of the server in which commands and options of cpctl stand in place of routes and queries. A route without a command stays. */
export const inCommands = (message: string): string =>
  message
    .replace(route, (text: string, method: string, path: string) => commandOf(method, path) ?? text)
    .replace(/\bforce=true\b/g, '--force')

function commandOf(method: string, path: string): string | undefined {
  for (const id of operationIds) {
    const command = commands[id]
    const values = operationOf(id).method === method ? valuesIn(operations[id].path, path) : undefined
    if (command !== undefined && values !== undefined) return `cpctl ${command.replace(/:\w+/g, (name) => values.get(name) ?? name)}`
  }
  return undefined
}

/** What stands in a path for each parameter; undefined for a path of another operation. `{id}` stands for any, and is shown as `<service>`. */
function valuesIn(pattern: string, path: string): Map<string, string> | undefined {
  const [wanted, given] = [pattern.split('/'), path.split('/')]
  if (wanted.length !== given.length) return undefined
  if (wanted.some((part, at) => !part.startsWith(':') && part !== given[at])) return undefined
  return new Map(
    wanted.flatMap((part, at): [string, string][] => {
      const value = given[at] ?? ''
      return part.startsWith(':') ? [[part, /^\{.*\}$/.test(value) ? `<${part.slice(1).replace(/Id$/, '')}>` : value]] : []
    }),
  )
}
