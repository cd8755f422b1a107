import { isLoopbackHost } from '../../../../platform/network/address.ts'
import { hostOf } from '../../../../platform/outgoing/rules.ts'

/** Longest name of an app that GitHub takes, and names are given out once. */
const NAME_CHARS = 34

const permissions = {
  metadata: 'read',
  contents: 'read',
  checks: 'read',
  statuses: 'write',
  deployments: 'write',
  pull_requests: 'write',
}

const events = ['push', 'delete', 'status', 'check_suite', 'check_run', 'repository', 'pull_request']

/** What describes the app to GitHub. A server that the internet does not lead to gets no deliveries, and looks at branches instead. */
export function manifestOf(publicUrl: string, random: string): object {
  const isReachable = !isLoopbackHost(hostOf(new URL(publicUrl)))
  return {
    name: `cpd ${new URL(publicUrl).hostname.slice(0, 20)} ${random}`.slice(0, NAME_CHARS),
    url: publicUrl,
    redirect_url: `${publicUrl}/v1/github/manifest/callback`,
    callback_urls: [`${publicUrl}/v1/github/callback`],
    request_oauth_on_install: true,
    public: false,
    default_permissions: permissions,
    default_events: isReachable ? events : [],
    ...(isReachable && { hook_attributes: { url: `${publicUrl}/v1/github/webhook`, active: true } }),
  }
}
