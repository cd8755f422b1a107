import { type Html, html } from '../markup/html.ts'
import { type Shown, show } from '../page/reply.ts'
import { type Page, type PageRequest, viewerOf } from '../page/request.ts'
import { chapters } from './chapters.ts'
import { GUIDE, type Rendered, renderChapter, type Section } from './render.ts'
import { guideStylePath } from './style.ts'

interface Entry extends Rendered {
  path: string
  summary: string
}

let entries: readonly Entry[] | undefined

/** The chapters as markup, made when one is first read: a start needs none of them. */
function allEntries(): readonly Entry[] {
  entries ??= chapters.map(({ slug, summary, text }) => ({ path: `${GUIDE}/${slug}`, summary, ...renderChapter(text) }))
  return entries
}

export const guidePages: Readonly<Record<string, { get: Page }>> = {
  [GUIDE]: { get: showContents },
  ...Object.fromEntries(
    chapters.map(({ slug }, index) => [`${GUIDE}/${slug}`, { get: (request: PageRequest) => showChapter(request, index) }]),
  ),
}

function showContents(request: PageRequest): Shown {
  return guidePage(request, {
    title: 'Guide',
    body: html`<div class="card"><p>How to run cpd, and what it does. The API is explored at <a href="/docs">Swagger UI</a>.</p>
<dl>${allEntries().map(({ path, title, summary }) => html`<dt><a href="${path}">${title}</a></dt><dd>${summary}</dd>`)}</dl></div>`,
  })
}

function showChapter(request: PageRequest, index: number): Shown {
  const all = allEntries()
  const { title, body, sections } = all[index] as Entry
  return guidePage(request, {
    title,
    body: html`<nav aria-label="Guide"><a href="${GUIDE}">Guide</a></nav>
<div class="card prose">${sections.length > 1 && contentsOf(sections)}
${body}</div>
<nav class="turn" aria-label="Chapters">${chapterLink('prev', all[index - 1])}${chapterLink('next', all[index + 1])}</nav>`,
  })
}

const guidePage = (request: PageRequest, { title, body }: { title: string; body: Html }): Shown =>
  show({ title, body, width: 'wide', viewer: viewerOf(request)?.email, styles: [guideStylePath] })

const contentsOf = (sections: readonly Section[]): Html =>
  html`<ul class="contents">${sections.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}</ul>`

const words = { prev: 'Previous', next: 'Next' }

const chapterLink = (direction: keyof typeof words, entry: Entry | undefined): Html | undefined =>
  entry && html`<a rel="${direction}" href="${entry.path}"><span class="quiet">${words[direction]}</span><br>${entry.title}</a>`
