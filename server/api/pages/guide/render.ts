import { type Html, ownMarkup } from '../markup/html.ts'

export interface Rendered {
  title: string
  body: Html
  /** The headings of the second level, which can be linked to. */
  sections: readonly Section[]
}

export interface Section {
  id: string
  title: Html
}

export const GUIDE = '/docs/guide'

/** A chapter as markup; markup of its text stays text. Links to other chapters name files, to work in a checkout too, and lead to their pages. */
export function renderChapter(text: string): Rendered {
  const [, title = '', rest = ''] = /^# (.+)\n([\s\S]*)$/.exec(text) ?? []
  const found: { id: string; markup: string }[] = []
  const markup = new HTMLRewriter()
    .on('a', { element: (link) => void link.setAttribute('href', pageOf(link.getAttribute('href') ?? '')) })
    .on('h2', {
      element: (heading) => void found.push({ id: heading.getAttribute('id') ?? '', markup: '' }),
      text(part) {
        const section = found.at(-1)
        if (section !== undefined) section.markup += part.text
      },
    })
    .transform(Bun.markdown.html(rest, { headings: true, noHtmlBlocks: true, noHtmlSpans: true }))
  return { title, body: ownMarkup(markup), sections: found.map(({ id, markup }) => ({ id, title: ownMarkup(markup) })) }
}

const pageOf = (href: string): string => href.replace(/^([A-Za-z-]+)\.md(?=#|$)/, (_, file: string) => `${GUIDE}/${file.toLowerCase()}`)
