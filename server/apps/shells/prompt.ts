import type { StoredService } from '../services/store.ts'

/**
 * Variables that give a shell a short prompt: the service, and the folder below the release. POSIX has sh expand PS1 each time (POSIX.1,
 * 2.5.3); bash sets it anew in the system's bashrc, so a command that bash runs before its first prompt puts ours back.
 */
export const promptEnv = ({ slug }: Pick<StoredService, 'slug'>, releaseDir: string): Record<string, string> => {
  const prompt = `${slug}\${PWD#${releaseDir}} $ `
  return { PS1: prompt, CPD_PROMPT: prompt, PROMPT_COMMAND: 'PS1=$CPD_PROMPT; unset PROMPT_COMMAND CPD_PROMPT' }
}
