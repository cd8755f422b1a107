import { AppError } from '../../../../shared/error.ts'

interface Known {
  said: RegExp
  words: string
}

/** In the order in which they are looked for: git says several things of one failure. */
const known: readonly Known[] = [
  {
    said: /Authentication failed|could not read Username|terminal prompts disabled|error: 40[13]|not found|returned error: 404/i,
    words: 'It is not there, or private: check its URL, and connect the account that has it with `cpctl sourcehost connect`.',
  },
  { said: /redirect|error: 30\d/i, words: 'It has moved, and redirects are not followed. Give the service its URL of now with `--repo`.' },
  {
    said: /not our ref|remote ref|not a valid object|unadvertised object/i,
    words: 'The commit is not in it, or no longer: it may have been pushed over. Deploy a branch, tag or commit that is there.',
  },
  {
    said: /File too large|signal 25|Cannot allocate|out of memory|malloc/i,
    words: 'It is larger than this server takes. Make the repository smaller, or have its operator raise CP_SOURCE_MAX_MB.',
  },
  {
    said: /fsck|fatal: object|bad tree|index-pack (?:failed|abnormal)|contains '\.|nullsha1|pathname/i,
    words: 'Its objects are damaged, or hold what no checkout should. `git fsck` names them.',
  },
  {
    said: /resolve host|connect to|timed out|Connection|SSL|certificate|Operation too slow|early EOF|RPC failed|error: 5\d\d/i,
    words: 'Its server gave no answer that can be used. Try again later.',
  },
]

const knownOfSsh: readonly Known[] = [
  {
    said: /HOST IDENTIFICATION HAS CHANGED|host key verification failed|host key is known/i,
    words:
      'Its server shows another host key than when the service first came there: somebody may stand in between. If its operator has changed the key, have it forgotten with `cpctl services deploy-key --forget-hosts`, and deploy again.',
  },
  {
    said: /permission denied|too many authentication|not found|does not exist|not appear to be a git repository|access rights/i,
    words:
      'It is not there, or its server does not let the service in: check its URL, and give the server the key that `cpctl services deploy-key` shows (to read is enough). Then deploy again.',
  },
  {
    said: /kex_exchange|connection|closed by|banner|no matching|broken pipe|timeout|hung up|protocol error|packet/i,
    words: 'Its server gave no answer that can be used. Try again later.',
  },
]

const MAX_WORDS = 300

/** What git has failed with, as people can act on. What the server has sent is told without the credential and without control characters. */
export function gitProblem(url: string | undefined, stderr: string, secrets: readonly string[]): AppError {
  const isBySsh = url !== undefined && !/^https?:/.test(url)
  const words = [...(isBySsh ? knownOfSsh : []), ...known].find(({ said }) => said.test(stderr))?.words ?? 'Try again later.'
  const hidden = secrets.reduce((text, secret) => text.replaceAll(secret, '***'), stderr)
  const shown = hidden
    .replace(/[\p{Cc}\p{Cf}]+/gu, ' ')
    .trim()
    .slice(-MAX_WORDS)
  const what = url === undefined ? 'What was fetched could not be read.' : `The repository ${url} could not be fetched.`
  return new AppError('bad_request', `${what} ${words}${shown === '' ? '' : ` (git: ${shown})`}`)
}
