import decisions from '../../../docs/decisions.md' with { type: 'text' }
import contributing from '../../../docs/development.md' with { type: 'text' }
import measurements from '../../../docs/measurements.md' with { type: 'text' }
import operations from '../../../docs/operations.md' with { type: 'text' }
import people from '../../../docs/people.md' with { type: 'text' }
import security from '../../../docs/security.md' with { type: 'text' }
import services from '../../../docs/services.md' with { type: 'text' }

export interface Chapter {
  /** Its file below `server/docs/` without `.md`, in lower case, and its name in the address. */
  slug: string
  summary: string
  /** Markdown that begins with its title, `# …`. */
  text: string
}

/** The guide in the order in which it is read. */
export const chapters: readonly Chapter[] = [
  { slug: 'services', summary: 'What can be deployed, and the kinds of services there are.', text: services },
  { slug: 'people', summary: 'Members, roles, keys, workspaces, signing in and the audit log.', text: people },
  { slug: 'operations', summary: 'Installing, upgrading, backing up, and what survives what.', text: operations },
  { slug: 'security', summary: 'What is promised, how it is kept, and how to prove it.', text: security },
  { slug: 'measurements', summary: 'How fast it is, beside its peers on the same machine.', text: measurements },
  { slug: 'decisions', summary: 'What was decided, and why.', text: decisions },
  { slug: 'development', summary: 'How to add a resource, a setting or an engine.', text: contributing },
]
