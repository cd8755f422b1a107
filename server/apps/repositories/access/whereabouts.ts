/** What has become of a repository that git was not let into: where it is now, or why it cannot be had and what to do. */
export type Whereabouts = { kind: 'renamed'; url: string } | { kind: 'lost'; problem: string }

/** Whoever may ask the host of a repository; undefined where nothing has become of it, or nobody says. */
export type WhereaboutsSource = (wanted: { workspaceId: string; url: string }, signal: AbortSignal) => Promise<Whereabouts | undefined>
