import { showAccount } from './account/overview.ts'
import { changePassword, showPassword } from './account/password.ts'
import { endSession, showSessions } from './account/sessions.ts'
import { setUpTwoFactor, showTwoFactor } from './account/two-factor.ts'
import { showProof, useProof } from './account/two-factor-proof.ts'
import { unlinkIdentity } from './account/unlink.ts'
import { showUnsubscribe, unsubscribe } from './account/unsubscribe.ts'
import { showDeploy } from './deploys/deploy.ts'
import { guidePages } from './guide/show.ts'
import { redirect } from './page/reply.ts'
import type { Page } from './page/request.ts'
import { answerDevice, showDevice } from './sign-in/device.ts'
import { acceptInvite, showInvite } from './sign-in/invite.ts'
import { logIn, showLogin } from './sign-in/login.ts'
import { sendCode, showCode } from './sign-in/login-code.ts'
import { logOut, showLogout } from './sign-in/logout.ts'
import { resetPassword, showReset } from './sign-in/reset-password.ts'
import { connectGitea, showGitea } from './source-hosts/gitea.ts'
import { showGithub } from './source-hosts/github.ts'

export const pages: Readonly<Record<string, { get?: Page; post?: Page }>> = {
  ...guidePages,
  '/login': { get: showLogin, post: logIn },
  '/login/code': { get: showCode, post: sendCode },
  '/logout': { get: showLogout, post: logOut },
  '/device': { get: showDevice, post: answerDevice },
  '/invite': { get: showInvite, post: acceptInvite },
  '/reset-password': { get: showReset, post: resetPassword },
  '/unsubscribe': { get: showUnsubscribe, post: unsubscribe },
  '/deploys': { get: showDeploy },
  '/source-hosts/github': { get: showGithub },
  '/source-hosts/gitea': { get: showGitea, post: connectGitea },
  '/account': { get: showAccount },
  '/account/password': { get: showPassword, post: changePassword },
  '/account/two-factor': { get: showTwoFactor, post: setUpTwoFactor },
  '/account/two-factor/off': { get: showProof('off'), post: useProof('off') },
  '/account/two-factor/codes': { get: showProof('codes'), post: useProof('codes') },
  '/account/sessions': { get: showSessions, post: endSession },
  '/account/identities': { get: () => redirect('/account'), post: unlinkIdentity },
}
