import type { Html } from '../markup/html.ts'

export interface Shown {
  kind: 'page'
  status: number
  title: string
  body: Html
  width: 'narrow' | 'wide'
  viewer: string | undefined
  styles: readonly string[]
  headers: Record<string, string>
}

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
