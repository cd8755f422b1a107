/** What git is let in with at a repository. */
export type RepositoryCredential =
  /** `authority`: certificates, in PEM, that the host is verified by in place of those that the machine trusts. */
  | { kind: 'token'; username: string; token: string; authority?: string }
  /** The service's own key, for ssh. */
  | { kind: 'deploy_key' }
  | { kind: 'none' }

/** Whoever may know what lets a workspace in at a repository; undefined where that is not its own. @throws AppError where it cannot say now. */
export type CredentialSource = (
  wanted: { workspaceId: string; url: string },
  signal: AbortSignal,
) => Promise<RepositoryCredential | undefined>
