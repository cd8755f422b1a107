import { isOwnPath } from '../../../../shared/oauth.ts'

export const HOME = '/account'

/** What a login may lead to: pages that a person looks at, never the API's own paths. */
const pages = /^\/(?:account|device|invite|docs|status)(?:[/?]|$)/

/** Where a login leads: the page of ours that was wanted, and never another site's. */
export const returnPathOf = (wanted: string | null | undefined): string =>
  wanted && isOwnPath(wanted) && pages.test(wanted) ? wanted : HOME

/** The login page, which leads back to where the visitor is. */
export const loginPath = ({ pathname, search }: URL): string => `/login?returnTo=${encodeURIComponent(pathname + search)}`
