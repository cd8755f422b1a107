import changelog from '../../../docs/CHANGELOG.md' with { type: 'text' }
import contributing from '../../../docs/contributing.md' with { type: 'text' }
import datastores from '../../../docs/datastores.md' with { type: 'text' }
import decisions from '../../../docs/decisions.md' with { type: 'text' }
import deploys from '../../../docs/deploys.md' with { type: 'text' }
import disks from '../../../docs/disks.md' with { type: 'text' }
import domains from '../../../docs/domains.md' with { type: 'text' }
import events from '../../../docs/events.md' with { type: 'text' }
import gitPush from '../../../docs/git-push.md' with { type: 'text' }
import jobs from '../../../docs/jobs.md' with { type: 'text' }
import measurements from '../../../docs/measurements.md' with { type: 'text' }
import metrics from '../../../docs/metrics.md' with { type: 'text' }
import operations from '../../../docs/operations.md' with { type: 'text' }
import people from '../../../docs/people.md' with { type: 'text' }
import previews from '../../../docs/previews.md' with { type: 'text' }
import projects from '../../../docs/projects.md' with { type: 'text' }
import repositories from '../../../docs/repositories.md' with { type: 'text' }
import security from '../../../docs/security.md' with { type: 'text' }
import services from '../../../docs/services.md' with { type: 'text' }
import settings from '../../../docs/settings.md' with { type: 'text' }
import sourceHosts from '../../../docs/source-hosts.md' with { type: 'text' }
import variables from '../../../docs/variables.md' with { type: 'text' }
import webhooks from '../../../docs/webhooks.md' with { type: 'text' }

export interface Chapter {
  /** Name of its file below `server/docs/` in lower case and without `.md`, and its name in the address. */
  slug: string
  summary: string
  text: string
}

/** The guide in the order in which it is read. */
export const chapters: readonly Chapter[] = [
  { slug: 'deploys', summary: 'What is built, what happens in a deploy, health, the guard and rollbacks.', text: deploys },
  { slug: 'repositories', summary: 'Deploys from git: branches, tags and commits, pushes, and how they are fetched.', text: repositories },
  { slug: 'git-push', summary: 'Deploying by git push, and what is refused.', text: gitPush },
  { slug: 'services', summary: 'Kinds of services, headers and redirects, who is let in, sleep, plans.', text: services },
  { slug: 'source-hosts', summary: 'GitHub, Gitea and Forgejo: accounts, repositories, deliveries.', text: sourceHosts },
  { slug: 'previews', summary: 'Pull requests as services of their own; requests from forks.', text: previews },
  { slug: 'variables', summary: 'Variables, secret files, groups that services share, values that refer to others.', text: variables },
  { slug: 'jobs', summary: 'One-off jobs, cron jobs, and a shell beside an instance.', text: jobs },
  { slug: 'disks', summary: 'Files that outlive releases, and their snapshots.', text: disks },
  { slug: 'datastores', summary: 'Postgres and key-value stores: what runs them, how they are reached, backups.', text: datastores },
  { slug: 'domains', summary: 'Host names of your own, and their certificates.', text: domains },
  { slug: 'projects', summary: 'Projects, environments, what is protected and isolated in them.', text: projects },
  { slug: 'people', summary: 'Members, roles, keys, workspaces, signing in and the audit log.', text: people },
  { slug: 'metrics', summary: 'What services use, print and are asked for; Prometheus.', text: metrics },
  { slug: 'events', summary: 'What happened, and how people and programs hear of it.', text: events },
  { slug: 'webhooks', summary: 'Events as signed requests to a URL, retries, and what a receiver can rely on.', text: webhooks },
  { slug: 'operations', summary: 'Installing, upgrading, backing up, and what survives what.', text: operations },
  { slug: 'settings', summary: 'Every setting, with its default.', text: settings },
  { slug: 'security', summary: 'What is promised, how it is kept, and how to prove it.', text: security },
  { slug: 'measurements', summary: 'How fast it is, beside its peers on the same machine.', text: measurements },
  { slug: 'decisions', summary: 'What was decided, and why.', text: decisions },
  { slug: 'contributing', summary: 'How to add a resource, a setting, an engine, an owner or a type of service.', text: contributing },
  { slug: 'changelog', summary: 'What changed, newest first.', text: changelog },
]
