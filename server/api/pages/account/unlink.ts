import { redirect } from '../page/reply.ts'
import { forViewer } from './section.ts'

export const unlinkIdentity = forViewer(async ({ ask, fields }) => {
  const unlinked = await ask('unlinkIdentity', { params: { provider: fields.provider ?? '' } })
  return redirect(unlinked.isDone ? '/account?notice=unlinked' : '/account?error=not_unlinked')
})
