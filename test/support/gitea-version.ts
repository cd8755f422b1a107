/** Newest release that the module proxy has all parts of. */
export const GITEA_VERSION = 'v1.26.0'
