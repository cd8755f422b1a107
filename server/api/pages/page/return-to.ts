import { isOwnPath } from '../../../../shared/oauth.ts'

export const HOME = '/account'

/** A login may lead to pages that a person looks at, never to the API's own paths. */
const pages = /^\/(?:account|deploys|device|docs|invite|source-hosts|status)(?:[/?]|$)/

/** Returns the page of ours that was wanted, and never another site's. */
export const returnPathOf = (wanted: string | null | undefined): string =>
  wanted && isOwnPath(wanted) && pages.test(wanted) ? wanted : HOME

export const loginPath = ({ pathname, search }: URL): string => `/login?returnTo=${encodeURIComponent(pathname + search)}`
