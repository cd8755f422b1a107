/** What git is let in with at a repository. */
export type RepositoryCredential =
  /** `authority`: certificates, in PEM, that the host is verified by in place of those that the machine trusts. `mayBePrivate`: a setting names the host, which may be in a private network. */
  { kind: 'token'; username: string; token: string; authority?: string; mayBePrivate?: boolean } | DeployKeyCredential | { kind: 'none' }

export interface DeployKeyCredential {
  kind: 'deploy_key'
  privateKey: string
  /** The key that the host has to show; undefined where none was seen there yet. */
  hostKey: string | undefined
  /** Keeps what the host has shown, and gives words about it where it was not known. @throws AppError conflict where another key is kept. */
  pin(hostKey: string): string | undefined
}

/** Whoever may know what lets a service in at a repository; undefined where that is not its own. @throws AppError where it cannot say now. */
export type CredentialSource = (
  wanted: { workspaceId: string; serviceId: string; url: string },
  signal: AbortSignal,
) => Promise<RepositoryCredential | undefined>
