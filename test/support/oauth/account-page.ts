/** An account at a provider of the tests. */
export interface ProviderAccount {
  id: string
  name: string
  /** Absent: the provider tells none. */
  email?: string
  isVerified: boolean
}

const escaped = (text: string): string => text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`)

/** A page on which one chooses with which account to sign in, or goes back. */
export function accountPage(title: string, accounts: readonly ProviderAccount[], fields: Readonly<Record<string, string>> = {}): Response {
  const hidden = Object.entries(fields).map(([name, value]) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`)
  const buttons = accounts.map(({ id, name }) => `<button name="account" value="${escaped(id)}">${escaped(name)}</button>`)
  const form = `<form method="post">${hidden.join('')}${buttons.join('')}<button name="account" value="">Cancel</button></form>`
  return new Response(
    `<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>${escaped(title)}</title><h1>${escaped(title)}</h1>${form}</html>`,
    {
      headers: { 'content-type': 'text/html; charset=utf-8' },
    },
  )
}

/** A page that has the browser bring an answer to another site, as soon as somebody presses on. */
export function formPostPage(action: string, fields: Readonly<Record<string, string>>): Response {
  const hidden = Object.entries(fields).map(([name, value]) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`)
  return new Response(
    `<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Back</title><form method="post" action="${escaped(action)}">${hidden.join('')}<button>Continue</button></form></html>`,
    { headers: { 'content-type': 'text/html; charset=utf-8' } },
  )
}
