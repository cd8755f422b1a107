import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const testFiles = [...new Bun.Glob('**/*.test.ts').scanSync({ cwd: root })].filter((path) => !path.startsWith('fixtures/')).sort()
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8')

/** Where each requirement is proved: a file of its own here, or tests beside the code that keeps it, by name. */
const proofs: Record<string, Record<string, string[]>> = {
  'S1 no shell': { 'security/s01-no-shell.test.ts': [] },
  'S2 payloads': { 'security/s02-payloads.test.ts': [] },
  'S3 options': { 'security/s03-options.test.ts': [] },
  'S4 source files': { 'security/s04-source-files.test.ts': [] },
  'S5 matrix of roles': { 'security/s05-access-matrix.test.ts': [], 'security/s05-protected.test.ts': [] },
  'S6 ids of others': {
    'conformance/operations.test.ts': [
      'answers 404 when the id is of another workspace, without a hint',
      'an id of another workspace in a query or body is not found',
    ],
    'security/s06-other-workspaces.test.ts': [],
  },
  'S7 nobody grants what they lack': {
    'security/s07-escalation.test.ts': [],
    'server/identity/api-keys/api-keys.test.ts': [
      'a member without apikeys.manage makes no keys',
      'is the own role where that holds less than a developer',
    ],
    'server/identity/team/members.test.ts': [
      'nobody changes, removes or makes somebody who may do more than they',
      'the last administrator is neither demoted, scoped nor removed, and cannot leave',
      'of two administrators who demote each other at once, one stays',
    ],
    'server/identity/invites/invites.test.ts': ['nobody invites with more than they have, or takes back the invite of somebody above'],
  },
  'S8 revocation': {
    'security/s08-revocation.test.ts': [],
    'server/identity/api-keys/api-keys.test.ts': ['a key works in its own workspace only, and cannot be revoked from another'],
  },
  'S9 static token': {
    'security/s09-static-token.test.ts': [],
    'security/s12-planted-secrets.test.ts': ['S9: the static token is compared in constant time, by its hash'],
    'server/identity/users/first-start.test.ts': [
      'the static token is the administrator of the default workspace, under the same checks, and stands nowhere',
    ],
  },
  'S10 WebSockets': {
    'security/s10-shell.test.ts': [],
    'server/http/sockets/sockets.test.ts': [
      'without a credential, or with a bad one',
      'with a cookie from another site, or from nowhere',
      'leaves nothing behind when the client goes',
    ],
  },
  'S11 fresh installs': { 'security/s11-fresh-installs.test.ts': [] },
  'S12 planted secrets': {
    'security/s12-planted-secrets.test.ts': [],
    'server/http/answers/idempotency.test.ts': ['answers are kept sealed'],
  },
  'S13 cookies': {
    'server/identity/team/members.test.ts': ['who is removed is out: their sessions, sockets, keys, the keys of these keys, and invites'],
    'security/s13-cookies.test.ts': [],
    'security/s13-sessions.test.ts': [],
    'security/s13-takeover.test.ts': [],
    'server/identity/sessions/sessions.test.ts': [
      'begins with a login whose cookie scripts cannot read and other sites cannot use',
      'has a new id at each login, and the one shown at the login ends',
      'ends on the server at logout',
      'over https the cookie is Secure',
    ],
  },
  'S14 login': {
    'security/s14-login.test.ts': [],
    'security/s14-second-factor.test.ts': [],
    'server/identity/throttle/login-limits.test.ts': [
      'an address is closed for an account after too many failures, in any spelling, and others are not',
    ],
    'server/http/limits/rate-limit.test.ts': ['a forwarded address counts only from a trusted proxy, and from the right'],
  },
  'S15 links': {
    'security/s15-host-header.test.ts': [],
    'server/identity/invites/invites.test.ts': ['an invite shows its link once, under the public URL, and keeps the token as a hash only'],
    'server/identity/invites/accept.test.ts': [
      'the invite of somebody else is refused, and stays good',
      'it is accepted once, also by two clients at once',
      'after seven days it has expired',
    ],
  },
  'S16 sign-in through providers': {
    'security/s16-oauth.test.ts': [],
    'security/s16-accounts.test.ts': [],
    'server/identity/oauth/linking.test.ts': ['a link is not made when somebody else has logged in meanwhile'],
    'server/identity/oauth/second-factor.test.ts': ['has a provider’s word for the first only'],
  },
  'S17 archives': {
    'security/s17-archives.test.ts': [],
    'security/s17-repositories.test.ts': [],
    'server/platform/archives/archive.test.ts': ['with %s is refused and leaves nothing behind'],
  },
  'S18 outgoing addresses': {
    'security/s18-outgoing.test.ts': [],
    'security/s18-providers.test.ts': [],
    'security/s18-repositories.test.ts': [],
    'security/s18-webhooks.test.ts': [],
    'server/platform/outgoing/rules.test.ts': ['is not reached at %s'],
    'server/platform/outgoing/send.test.ts': [
      'that changes after the check changes nothing',
      'a redirect is an answer, and is not followed',
    ],
    'server/platform/outgoing/https.test.ts': ['a certificate of another name is refused'],
  },
  'S19 smuggling': {
    'security/s19-smuggling.test.ts': [],
    'server/ingress/bad-peers.test.ts': [
      'an instance that answers with $name',
      'an answer that is broken off at any byte is never passed on as whole',
    ],
    'server/ingress/serve/refusals.test.ts': ['a head that trickles in is a 408', 'a body that stops coming is a 408'],
    'server/ingress/message/forward.test.ts': ['hop-by-hop headers end here', 'forged forwarded headers are dropped'],
  },
  'S20 bodies': {
    'security/s20-bounded-bodies.test.ts': [],
    'conformance/input.test.ts': ['is refused when it is too large'],
    'conformance/bad-input.test.ts': ['that is cut off in the middle leaves nothing behind'],
  },
  'S21 inert names': {
    'security/s21-inert-names.test.ts': [],
    'server/api/pages/security.test.ts': ['S21: names with markup are text in every page'],
    'e2e/swagger.test.ts': ['shows names that look like markup as text'],
    'server/api/health/health.test.ts': ['keeps markup inert'],
    'cli/logs.test.ts': ['control sequences in a line never reach the terminal'],
    'cli/services.test.ts': ['removes control sequences from what the server sends'],
  },
  'S22 hostile app': {
    'security/s22-hostile-app.test.ts': [],
    'security/s22-isolation.test.ts': [],
    'security/s22-network.test.ts': [],
    'security/s22-taken-port.test.ts': [],
    'engines/process/isolation.test.ts': ['signals no other process', 'reads no file of the control plane'],
    'engines/process/support/processes.ts': [
      'forking without end stays within the limit and can be stopped',
      'a memory hog is killed and told as such',
    ],
  },
  'S23 deletion': { 'security/s23-deletion.test.ts': [] },
  'S29 kernel objects': {
    'security/s29-connections.test.ts': [],
    'security/s29-ipc.test.ts': [],
    'security/s29-kernel-objects.test.ts': [],
  },
  'S30 paths of disks': { 'security/s30-disk-paths.test.ts': [] },
  'S33 system calls': {
    'security/s33-system-calls.test.ts': [],
    'engines/process/call-filter/filter.test.ts': ['says of every call what libseccomp says'],
  },
  'S27 bounds of what clients make us keep': {
    'security/s27-log-followers.test.ts': [],
    'security/s27-half-open.test.ts': [],
    'security/s27-closed-windows.test.ts': [],
    'security/s27-unread-answers.test.ts': [],
  },
  'S32 one workspace keeps nobody from anything': {
    'security/s32-quotas.test.ts': [],
    'security/s32-build-turns.test.ts': [],
    'server/apps/pipeline/choose.test.ts': ['with one place they take turns'],
  },
  'S28 no long turn of the event loop': {
    'security/s28-rules.test.ts': [],
    'security/s28-compression.test.ts': [],
    'server/apps/services/settings.test.ts': ['with rules whose paths are too long together are refused by their list'],
  },
  'S35 nobody is locked out by strangers': { 'security/s35-locked-out.test.ts': [] },
  'S36 clients that try again': {
    'security/s36-killed.test.ts': [],
    'conformance/idempotency.test.ts': ['S36: is undone with its answer, where that cannot be kept'],
    'server/identity/devices/device-login.test.ts': [
      'S36: are exchanged once when many try at once or ask again, and all of them get the same',
    ],
  },
  'S34 no throw ends a process': {
    'security/s34-ingress.test.ts': [],
    'security/s27-half-open.test.ts': ['leave the control plane running and answering'],
    'server/platform/process/survive.test.ts': ['errors that nobody caught end a process only in a burst'],
  },
  'S32 one workspace beside others': { 'security/s32-log-shares.test.ts': [] },
  'S31 the reserve': { 'security/s31-output.test.ts': [], 'security/s31-reserve.test.ts': [] },
  "S25 root in tenants' folders": {
    'security/s25-hostile-builds.test.ts': [],
    'security/s25-poisoned-stores.test.ts': [],
    'server/platform/files/tree/beneath.test.ts': [
      'a pipe is looked at and never opened',
      'nothing outside is read while a folder is exchanged for a link',
    ],
    'server/platform/files/tree/freeze.test.ts': ['a hard link to a file of somebody else is refused, and the file stays as it is'],
    'server/builders/tree/build.test.ts': ['S25: leaves out links to nothing, which could come to lead somewhere, and says so'],
    'server/ingress/static/open-inside.test.ts': ['S25: a pipe outside that a link leads to is not even opened'],
    'server/platform/files/tree/remove.test.ts': ['nothing outside is removed while a folder is exchanged for a link'],
  },
  'S26 own release only': { 'security/s26-own-release-only.test.ts': [] },
}

describe.each(Object.entries(proofs))('%s', (_, files) => {
  test.each(Object.entries(files))('is proved in %s', (path, names) => {
    const text = textOf(path)
    expect(text).toMatch(/\btest(?:\.each)?\(/)
    for (const name of names) expect(text).toContain(name)
  })
})

test('every file of security tests is one of the proofs', () => {
  const named = new Set(Object.values(proofs).flatMap((files) => Object.keys(files)))
  const own = testFiles.filter((path) => path.startsWith('security/') && path !== 'security/requirements.test.ts')
  expect(own.filter((path) => !named.has(path))).toEqual([])
})

test('no test anywhere is skipped, put off or made the only one; those that need root, loop devices or a right of the kernel say so, and are counted as skipped without', () => {
  const word = ['skip', 'skipIf', 'runIf', 'todo', 'only', 'fails'].join('|')
  const pattern = new RegExp(`\\b(?:test|it|describe)(?:\\.\\w+)*\\.(?:${word})\\b|\\bcontext\\.skip\\(`)
  const needsRoot = /\.runIf\((?:isRoot|hasLoopDevices|canGrowMounted\(\)|process\.getuid\?\.\(\) === 0)\)/g
  expect(testFiles.filter((path) => pattern.test(textOf(path).replace(needsRoot, '')))).toEqual([])
})
