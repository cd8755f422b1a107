/** How large the history may be that is kept of what is pushed to a service, unless a setting says otherwise. */
export const defaultMaxHistoryBytes = 1024 * 1024 * 1024
