import { type Content, type Html, html } from './html.ts'

/** A sentence about the whole, and one for each field at fault, by name. */
export interface Problem {
  message: string
  fields: Readonly<Record<string, string>>
}

interface Field {
  name: string
  label: string
  type?: 'text' | 'email' | 'password'
  autocomplete: string
  value?: string
  hint?: string
  isOptional?: true
  inputmode?: 'numeric' | 'text'
  hasFocus?: boolean
  minLength?: number
  maxLength?: number
}

export function field(field: Field, problem?: Problem): Html {
  const { name, label, type = 'text', autocomplete, value = '', hint, inputmode } = field
  const wrong = problem !== undefined && Object.hasOwn(problem.fields, name) ? problem.fields[name] : undefined
  const described = [hint !== undefined && `${name}-hint`, wrong !== undefined && `${name}-problem`].filter((id) => id !== false).join(' ')
  const input = {
    ...{ id: name, name, type, autocomplete, value, required: field.isOptional !== true, inputmode },
    // Names of people begin with capitals, and are not in dictionaries.
    ...(!(type === 'text' && autocomplete === 'name') && { autocapitalize: 'none', spellcheck: 'false' }),
    ...{ minlength: field.minLength, maxlength: field.maxLength },
    ...{ 'aria-describedby': described || undefined, 'aria-invalid': wrong === undefined ? undefined : 'true', autofocus: field.hasFocus },
  }
  return html`<div class="field">
<label for="${name}">${label}</label>
${hint !== undefined && html`<span class="hint" id="${name}-hint">${hint}</span>`}
<input${attributes(input)}>
${wrong !== undefined && html`<p class="problem" id="${name}-problem">${wrong}</p>`}
</div>
`
}

const attributes = (values: Readonly<Record<string, string | number | boolean | undefined>>): Content =>
  Object.entries(values).map(([name, value]) => {
    if (value === undefined || value === false) return undefined
    return value === true ? html` ${name}` : html` ${name}="${value}"`
  })

export function problemSummary(problem: Problem | undefined): Content {
  if (problem === undefined) return undefined
  const wrong = Object.entries(problem.fields).map(([name, message]) => html`<a href="#${name}">${sentenceOf(name, message)}</a>`)
  return html`<div class="notice bad" role="alert">
${wrong.length === 0 ? html`<p>${problem.message}</p>` : wrong.map((link) => html`<p>${link}</p>`)}
</div>
`
}

/** The API says what is wrong with a field in a sentence, or in the rest of one. */
const sentenceOf = (name: string, message: string): string =>
  /^[a-z]/.test(message) ? `${Object.hasOwn(labels, name) ? labels[name] : name} ${message}` : message

export const done = (message: string | undefined): Content =>
  message !== undefined && html`<div class="notice" role="status"><p>${message}</p></div>`

export const hidden = (name: string, value: string): Html => html`<input type="hidden" name="${name}" value="${value}">`

interface Form {
  action: string
  content: Content
}

export const form = ({ action, content }: Form): Html => html`<form method="post" action="${action}">${content}</form>`

const labels: Readonly<Record<string, string>> = {
  email: 'The e-mail address',
  password: 'The password',
  currentPassword: 'The present password',
  newPassword: 'The new password',
  name: 'The name',
  otp: 'The code',
  code: 'The code',
  token: 'The link',
}
