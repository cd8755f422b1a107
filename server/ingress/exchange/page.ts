import type { LocalResponse } from './respond.ts'

export interface Page {
  status: number
  title: string
  text: string
  retryAfterSeconds?: number
}

/** A page of our own in the form the client asks for: HTML for a browser, JSON for a program that says so, else plain text. */
export function pageResponse(page: Page, accept: string | undefined): LocalResponse {
  const { type, body } = render(page, accept?.toLowerCase() ?? '')
  const headers: [string, string][] = [
    ['Content-Type', type],
    ['Cache-Control', 'no-store'],
    ['X-Content-Type-Options', 'nosniff'],
  ]
  if (page.retryAfterSeconds !== undefined) headers.push(['Retry-After', String(page.retryAfterSeconds)])
  return { status: page.status, headers, body: Buffer.from(body) }
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;')
}

function render(page: Page, accept: string): { type: string; body: string } {
  if (accept.includes('text/html')) return { type: 'text/html; charset=utf-8', body: html(page) }
  if (accept.includes('json')) {
    return {
      type: 'application/json; charset=utf-8',
      body: `${JSON.stringify({ status: page.status, message: `${page.title}. ${page.text}` })}\n`,
    }
  }
  return { type: 'text/plain; charset=utf-8', body: `${page.status} ${page.title}\n${page.text}\n` }
}

function html({ status, title, text }: Page): string {
  const heading = `${status} ${escapeHtml(title)}`
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${heading}</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:18vh auto;padding:0 1.5rem;color:#222;background:#fff}h1{font-size:1.4rem}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#161616}}</style></head>
<body><h1>${heading}</h1><p>${escapeHtml(text)}</p></body></html>
`
}
