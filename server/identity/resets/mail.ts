import type { Mail } from '../../platform/mail/mailer.ts'

export const resetUrl = (publicUrl: string, token: string): string => `${publicUrl}/reset-password?token=${token}`

export const resetMail = (to: string, { url, publicUrl, askedBy }: { url: string; publicUrl: string; askedBy: string }): Mail => ({
  to,
  subject: `New password for ${new URL(publicUrl).host}`,
  text: `${askedBy} asked for a new password for your account at ${publicUrl}.

To set it, open this link within an hour:

${url}

If you do not want a new password, leave the link alone: nothing changes until it is used.
`,
})
