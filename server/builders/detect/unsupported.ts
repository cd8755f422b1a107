import type { SourceView } from './source-view.ts'

interface UnsupportedStack {
  title: string
  /** Files that tell it; one that begins with `*` stands for any name with that ending. */
  markers: readonly string[]
  remedy: string
}

const COMMANDS = 'set buildCommand and startCommand'

const ownToolchain = (program: string, start: string): string =>
  `where the operator has installed ${program}, ${COMMANDS} (such as ${start}) and it runs as it is`

/** Languages first: many of their projects hold a Dockerfile or a compose file beside what they are. */
const stacks: readonly UnsupportedStack[] = [
  { title: 'a PHP app', markers: ['composer.json', 'artisan', 'index.php'], remedy: ownToolchain('PHP', 'php -S 0.0.0.0:$PORT') },
  { title: 'a Ruby app', markers: ['Gemfile', 'config.ru'], remedy: ownToolchain('Ruby', 'bundle exec puma -p $PORT') },
  {
    title: 'a .NET app',
    markers: ['*.csproj', '*.fsproj', '*.vbproj', '*.sln', '*.slnx'],
    remedy: ownToolchain('the .NET SDK', 'dotnet out/App.dll --urls http://0.0.0.0:$PORT'),
  },
  {
    title: 'a Deno app',
    markers: ['deno.json', 'deno.jsonc', 'deno.lock'],
    remedy: `${ownToolchain('Deno', 'deno run -A main.ts')}; or set runtime to bun if it uses nothing of Deno alone`,
  },
  { title: 'an Elixir app', markers: ['mix.exs'], remedy: ownToolchain('Elixir', 'mix phx.server') },
  {
    title: 'a Java app',
    markers: ['pom.xml', 'build.gradle', 'build.gradle.kts'],
    remedy: ownToolchain('a JDK', 'java -jar target/app.jar'),
  },
  {
    title: 'a Compose project',
    markers: ['compose.yaml', 'compose.yml', 'docker-compose.yml', 'docker-compose.yaml'],
    remedy: 'create a service for each of its services, with rootDir set to the folder that holds its code',
  },
  {
    title: 'an app with a Dockerfile',
    markers: ['Dockerfile', 'Containerfile'],
    remedy: `no images are built on this server: ${COMMANDS} to what the Dockerfile runs`,
  },
]

export function describeUnsupported(files: SourceView): string | undefined {
  const found = findUnsupported(files)
  return found && `This is ${found.title} (${found.marker}), which cpd does not build by itself: ${found.remedy}`
}

export function noteUnsupported(files: SourceView): string[] {
  const found = findUnsupported(files)
  return found === undefined ? [] : [`This is ${found.title} (${found.marker}): buildCommand has to install what it needs.`]
}

function findUnsupported(files: SourceView): { title: string; marker: string; remedy: string } | undefined {
  const names = files.names('.')
  for (const { title, markers, remedy } of stacks) {
    const marker = names.find((name) => markers.some((wanted) => isMarker(name, wanted)))
    if (marker !== undefined) return { title, marker, remedy }
  }
  return undefined
}

const isMarker = (name: string, wanted: string): boolean => (wanted.startsWith('*') ? name.endsWith(wanted.slice(1)) : name === wanted)
