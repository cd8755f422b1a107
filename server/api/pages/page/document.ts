import { html } from '../markup/html.ts'
import type { Shown } from './reply.ts'
import { stylePath } from './style.ts'

/** Nothing runs, nothing is loaded but our own style sheet, and forms go nowhere else. */
export const pagePolicy = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

/** Browsers tell a form's origin only under a policy that lets them; other sites learn nothing, so that no token in an address leaves with a link. */
export const pageHeaders = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': pagePolicy,
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
}

export function documentOf({ title, body, width, viewer, styles }: Shown, host: string): string {
  const page = html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} – cpd</title>
<link rel="icon" href="data:,">
${[stylePath, ...styles].map(
  (path) => html`<link rel="stylesheet" href="${path}">
`,
)}
</head>
<body${width === 'narrow' && html` class="narrow"`}>
<a class="skip" href="#main">Skip to content</a>
<header>
<span class="brand">cpd <span class="host">${host}</span></span>
${
  viewer !== undefined &&
  html`<nav aria-label="Account"><a href="/account">Account</a>
<form method="post" action="/logout"><button class="plain">Log out</button></form></nav>`
}
</header>
<main id="main">
<h1>${title}</h1>
${body}
</main>
<footer>${viewer === undefined ? 'Not logged in' : html`Logged in as ${viewer}`} · <a href="/docs/guide">Guide</a></footer>
</body>
</html>
`
  return `<!doctype html>\n${page.markup}`
}
