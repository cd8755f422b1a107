import { minPasswordChars } from '../../../../shared/auth.ts'
import { field, type Problem } from './form.ts'
import type { Html } from './html.ts'

interface Named {
  name: string
  hasFocus?: boolean
}

export const newPasswordField = (named: Named, problem?: Problem): Html =>
  field(
    {
      label: 'New password',
      type: 'password',
      hint: `At least ${minPasswordChars} characters`,
      autocomplete: 'new-password',
      minLength: minPasswordChars,
      ...named,
    },
    problem,
  )

export const secondFactorField = ({ hasFocus = false }: { hasFocus?: boolean }, problem?: Problem): Html =>
  field(
    {
      name: 'otp',
      label: 'Code',
      hint: 'Six digits of your authenticator app, or a recovery code',
      autocomplete: 'one-time-code',
      maxLength: 40,
      hasFocus,
    },
    problem,
  )
