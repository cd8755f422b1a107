import type { SourceHostStatus } from '../../../../shared/source-host.ts'
import { done } from '../markup/form.ts'
import { type Html, html } from '../markup/html.ts'

export const connectedList = ({ installations }: SourceHostStatus): Html =>
  html`${installations.map(({ account, url, problem }) => (problem === undefined ? done(`Connected to ${account} at ${url}.`) : html`<p>${account}: ${problem}</p>`))}`
