import type { Html } from '../markup/html.ts'

/** A page to show. */
export interface Shown {
  kind: 'page'
  status: number
  title: string
  /** What stands in `main`, below the heading. */
  body: Html
  /** Narrow pages hold one form. */
  width: 'narrow' | 'wide'
  /** Name of who is logged in; undefined for nobody. */
  viewer: string | undefined
  /** Paths of style sheets beside the one of all pages. */
  styles: readonly string[]
  headers: Record<string, string>
}

/** Another page of ours to go to, once a form has done what it is for. */
export interface Redirect {
  kind: 'redirect'
  to: string
  cookies: readonly string[]
}

export type PageReply = Shown | Redirect

type ShownParts = Pick<Shown, 'title' | 'body'> & Partial<Shown>

export const show = (parts: ShownParts): Shown => ({
  kind: 'page',
  status: 200,
  width: 'narrow',
  viewer: undefined,
  styles: [],
  headers: {},
  ...parts,
})

export const redirect = (to: string, cookies: readonly string[] = []): Redirect => ({ kind: 'redirect', to, cookies })
