import type { SourceView } from './source-view.ts'

interface UnsupportedStack {
  title: string
  /** Files that tell it; one that begins with `*` stands for any name with that ending. */
  markers: readonly string[]
  remedy: string
}

interface Toolchain {
  install: string
  build: string
  start: string
}

const withToolchain = ({ install, build, start }: Toolchain): string =>
  `have the operator of this server install ${install}, then set buildCommand (such as ${build}) and startCommand (such as ${start})`

const JDK = 'a JDK (Debian: apt install default-jdk-headless)'
const [MAVEN_START, GRADLE_START] = ['java -jar target/app.jar', 'java -jar build/libs/app.jar']

const languages: readonly UnsupportedStack[] = [
  {
    title: 'a PHP app',
    markers: ['composer.json', 'artisan', 'index.php'],
    remedy: withToolchain({
      install: 'PHP and Composer (Debian: apt install php-cli composer)',
      build: 'composer install --no-dev',
      start: 'php -S 0.0.0.0:$PORT -t public',
    }),
  },
  {
    title: 'a Ruby app',
    markers: ['Gemfile', 'config.ru'],
    remedy: withToolchain({
      install: 'Ruby and Bundler (Debian: apt install ruby-bundler ruby-dev build-essential)',
      build: 'bundle config set --local path vendor/bundle && bundle install',
      start: 'bundle exec puma -p $PORT',
    }),
  },
  {
    title: 'a .NET app',
    markers: ['*.csproj', '*.fsproj', '*.vbproj', '*.sln', '*.slnx'],
    remedy: withToolchain({
      install: 'the .NET SDK (https://dot.net)',
      build: 'dotnet publish --output out',
      start: 'dotnet out/App.dll --urls http://0.0.0.0:$PORT',
    }),
  },
  {
    title: 'a Deno app',
    markers: ['deno.json', 'deno.jsonc', 'deno.lock'],
    remedy: `${withToolchain({ install: 'Deno (https://deno.com)', build: 'deno install', start: 'deno run -A main.ts' })}, or set runtime to bun if it uses nothing of Deno alone`,
  },
  {
    title: 'an Elixir app',
    markers: ['mix.exs'],
    remedy: withToolchain({
      install: 'Elixir (Debian: apt install elixir)',
      build: 'mix local.hex --force && mix deps.get && mix compile',
      start: 'mix phx.server',
    }),
  },
  {
    title: 'a Java app with a Maven wrapper',
    markers: ['mvnw'],
    remedy: withToolchain({ install: JDK, build: './mvnw -B -DskipTests package', start: MAVEN_START }),
  },
  {
    title: 'a Java app with a Gradle wrapper',
    markers: ['gradlew'],
    remedy: withToolchain({ install: JDK, build: './gradlew --no-daemon build -x test', start: GRADLE_START }),
  },
  {
    title: 'a Java app of Maven',
    markers: ['pom.xml'],
    remedy: withToolchain({
      install: 'a JDK and Maven (Debian: apt install default-jdk-headless maven)',
      build: 'mvn -B -DskipTests package',
      start: MAVEN_START,
    }),
  },
  {
    title: 'a Java app of Gradle',
    markers: ['build.gradle', 'build.gradle.kts'],
    remedy: withToolchain({
      install: 'a JDK and Gradle (Debian: apt install default-jdk-headless gradle)',
      build: 'gradle --no-daemon build -x test',
      start: GRADLE_START,
    }),
  },
]

const containers: readonly UnsupportedStack[] = [
  {
    title: 'a Compose project',
    markers: ['compose.yaml', 'compose.yml', 'docker-compose.yml', 'docker-compose.yaml'],
    remedy: 'create a service for each of its services, with rootDir set to the folder that holds its code',
  },
  {
    title: 'an app with a Dockerfile',
    markers: ['Dockerfile', 'Containerfile'],
    remedy: 'no images are built on this server: set buildCommand and startCommand to what the Dockerfile runs',
  },
]

/** Languages first: many of their projects hold a Dockerfile or a compose file beside what they are. */
export const describeUnsupported = (files: SourceView): string | undefined => describe(findAmong([...languages, ...containers], files))

/** What is written in a language that nothing here is made for, whatever it holds beside for its front end. */
export const describeForeign = (files: SourceView): string | undefined => describe(findAmong(languages, files))

export function noteUnsupported(files: SourceView): string[] {
  const found = findAmong([...languages, ...containers], files)
  return found === undefined ? [] : [`This is ${found.title} (${found.marker}): buildCommand has to install what it needs.`]
}

type Found = Pick<UnsupportedStack, 'title' | 'remedy'> & { marker: string }

const describe = (found: Found | undefined): string | undefined =>
  found && `This is ${found.title} (${found.marker}), which cpd does not build by itself: ${found.remedy}`

function findAmong(stacks: readonly UnsupportedStack[], files: SourceView): Found | undefined {
  const names = files.names('.')
  for (const { title, markers, remedy } of stacks) {
    const marker = names.find((name) => markers.some((wanted) => isMarker(name, wanted)))
    if (marker !== undefined) return { title, marker, remedy }
  }
  return undefined
}

const isMarker = (name: string, wanted: string): boolean => (wanted.startsWith('*') ? name.endsWith(wanted.slice(1)) : name === wanted)
