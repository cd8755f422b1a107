import { describe, expect, test } from 'vitest'
import { detectBuild } from '../../../../server/builders/detect/detect.ts'
import { refuseForeign } from '../../../../server/builders/detect/foreign.ts'
import type { BuildSettings } from '../../../../server/builders/port.ts'
import { sourceOf, toolchainsOf } from './source.ts'

const json = JSON.stringify
const inputOf = (files: Record<string, string>, settings: Partial<BuildSettings> = {}) => ({
  files: sourceOf(files),
  settings: { type: 'web_service' as const, ...settings },
  toolchains: toolchainsOf(),
})

describe('what is written in a language that cpd brings nothing for is told in one sentence that names what to install', () => {
  test.each([
    [
      { 'composer.json': '{}' },
      'This is a PHP app (composer.json), which cpd does not build by itself: have the operator of this server install PHP and Composer (Debian: apt install php-cli composer), then set buildCommand (such as composer install --no-dev) and startCommand (such as php -S 0.0.0.0:$PORT -t public)',
    ],
    [
      { Gemfile: '' },
      'This is a Ruby app (Gemfile), which cpd does not build by itself: have the operator of this server install Ruby and Bundler (Debian: apt install ruby-bundler ruby-dev build-essential), then set buildCommand (such as bundle config set --local path vendor/bundle && bundle install) and startCommand (such as bundle exec puma -p $PORT)',
    ],
    [
      { 'deno.json': '{}', 'main.ts': '' },
      'This is a Deno app (deno.json), which cpd does not build by itself: have the operator of this server install Deno (https://deno.com), then set buildCommand (such as deno install) and startCommand (such as deno run -A main.ts), or set runtime to bun if it uses nothing of Deno alone',
    ],
    [
      { 'mix.exs': '' },
      'This is an Elixir app (mix.exs), which cpd does not build by itself: have the operator of this server install Elixir (Debian: apt install elixir), then set buildCommand (such as mix local.hex --force && mix deps.get && mix compile) and startCommand (such as mix phx.server)',
    ],
    [
      { 'pom.xml': '' },
      'This is a Java app of Maven (pom.xml), which cpd does not build by itself: have the operator of this server install a JDK and Maven (Debian: apt install default-jdk-headless maven), then set buildCommand (such as mvn -B -DskipTests package) and startCommand (such as java -jar target/app.jar)',
    ],
    [
      { 'pom.xml': '', mvnw: '' },
      'This is a Java app with a Maven wrapper (mvnw), which cpd does not build by itself: have the operator of this server install a JDK (Debian: apt install default-jdk-headless), then set buildCommand (such as ./mvnw -B -DskipTests package) and startCommand (such as java -jar target/app.jar)',
    ],
    [
      { 'build.gradle.kts': '', gradlew: '' },
      'This is a Java app with a Gradle wrapper (gradlew), which cpd does not build by itself: have the operator of this server install a JDK (Debian: apt install default-jdk-headless), then set buildCommand (such as ./gradlew --no-daemon build -x test) and startCommand (such as java -jar build/libs/app.jar)',
    ],
    [
      { 'build.gradle': '' },
      'This is a Java app of Gradle (build.gradle), which cpd does not build by itself: have the operator of this server install a JDK and Gradle (Debian: apt install default-jdk-headless gradle), then set buildCommand (such as gradle --no-daemon build -x test) and startCommand (such as java -jar build/libs/app.jar)',
    ],
    [
      { 'Shop.csproj': '' },
      'This is a .NET app (Shop.csproj), which cpd does not build by itself: have the operator of this server install the .NET SDK (https://dot.net), then set buildCommand (such as dotnet publish --output out) and startCommand (such as dotnet out/App.dll --urls http://0.0.0.0:$PORT)',
    ],
  ])('%j', (files, sentence) => {
    expect(() => refuseForeign(inputOf(files))).toThrow(expect.objectContaining({ message: sentence }))
  })

  test('also where a front end in JavaScript lies beside it, which is not taken for the app', () => {
    const laravel = { 'composer.json': '{}', 'package.json': json({ devDependencies: { vite: '7' }, scripts: { build: 'vite build' } }) }
    expect(() => refuseForeign(inputOf(laravel))).toThrow('This is a PHP app (composer.json)')
    const rails = { Gemfile: '', 'package.json': json({ dependencies: { react: '19' } }), Dockerfile: '' }
    expect(() => refuseForeign(inputOf(rails))).toThrow('This is a Ruby app (Gemfile)')
  })
})

test.each<[what: string, files: Record<string, string>, settings?: Partial<BuildSettings>]>([
  ['an app of Node.js that is started', { 'composer.json': '{}', 'package.json': json({ scripts: { start: 'node app.js' } }) }],
  ['an app of Node.js with an entry', { Gemfile: '', 'package.json': '{}', 'server.js': '' }],
  ['an app of a framework that answers requests', { 'mix.exs': '', 'package.json': json({ dependencies: { next: '16' } }) }],
  ['an app of Python', { Gemfile: '', 'requirements.txt': 'flask' }],
  ['an app of Go', { 'pom.xml': '', 'go.mod': '' }],
  ['what somebody has said how to start', { 'pom.xml': '' }, { startCommand: 'java -jar app.jar' }],
  ['what its Procfile starts', { Gemfile: '', Procfile: 'web: puma' }],
  ['what has a runtime', { 'deno.json': '', 'main.ts': '' }, { runtime: 'bun' }],
  ['a site', { Gemfile: '', 'index.html': '' }, { type: 'static_site' }],
])('%s is not refused', (_, files, settings) => {
  expect(() => refuseForeign(inputOf(files, settings))).not.toThrow()
})

test('a language whose toolchain is missing is named with what to install', () => {
  expect(() => detectBuild(inputOf({ 'Cargo.toml': '[package]\nname = "x"\n' }))).toThrow(
    expect.objectContaining({
      message:
        'Rust is not installed on this server: ask its operator to install it (https://rustup.rs, or Debian: apt install cargo); a folder of its own is named in CP_BUILD_PATH',
    }),
  )
})
