import { answerDevice, showDevice } from './device.ts'
import { logIn, showLogin } from './login.ts'
import { sendCode, showCode } from './login-code.ts'
import { logOut, showLogout } from './logout.ts'
import type { Page } from './visit.ts'

/** Every page by its path: what it shows, and what its form does. */
export const pages: Readonly<Record<string, { get?: Page; post?: Page }>> = {
  '/login': { get: showLogin, post: logIn },
  '/login/code': { get: showCode, post: sendCode },
  '/logout': { get: showLogout, post: logOut },
  '/device': { get: showDevice, post: answerDevice },
}
