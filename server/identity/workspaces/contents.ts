/** What one kind of resource keeps in workspaces, and how it is removed with one. */
export interface WorkspaceContents {
  /** Begins the removal of all there is of this kind, the way it goes for a caller. Returns whether anything is still there. Repeatable. */
  remove(workspaceId: string): boolean
}
