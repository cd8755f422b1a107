export interface WorkspaceContents {
  /** Begins the removal of all of this kind, as for a caller, and says whether anything is still there. Repeatable. */
  remove(workspaceId: string): boolean
}
