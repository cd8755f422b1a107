/** Safe markup: `html` makes it and escapes whatever is put into it. */
export interface Html {
  readonly markup: string
}

export type Content = Html | string | number | false | undefined | readonly Content[]

const made = new WeakSet<Html>()

/** Makes markup. Text in it stays text, also within the double quotes of an attribute. */
export function html(parts: TemplateStringsArray, ...values: Content[]): Html {
  const markup = parts.reduce((text, part, index) => text + textOf(values[index - 1]) + part)
  return ownMarkup(markup)
}

/** Trusts markup made of texts inside the executable: nothing that a person wrote may ever stand in it. */
export function ownMarkup(markup: string): Html {
  const result: Html = { markup }
  made.add(result)
  return result
}

function textOf(content: Content): string {
  if (content === undefined || content === false) return ''
  if (Array.isArray(content)) return content.map(textOf).join('')
  if (typeof content === 'object' && 'markup' in content) {
    if (!made.has(content)) throw new Error('Markup that html did not make')
    return content.markup
  }
  return Bun.escapeHTML(String(content))
}
