/** What git is let in with at a repository. */
export type RepositoryCredential =
  /** `authority`: certificates, in PEM, that the host is verified by in place of those that the machine trusts. `mayBePrivate`: a setting names the host, which may be in a private network. */
  { kind: 'token'; username: string; token: string; authority?: string; mayBePrivate?: boolean } | { kind: 'deploy_key' } | { kind: 'none' }

/** Whoever may know what lets a workspace in at a repository; undefined where that is not its own. @throws AppError where it cannot say now. */
export type CredentialSource = (
  wanted: { workspaceId: string; url: string },
  signal: AbortSignal,
) => Promise<RepositoryCredential | undefined>
