import { ts } from '@ts-morph/common'
import type { Source } from './sources.ts'

/** What others call by name and cannot look into as they write: the contract, what keeps rows, and what engines promise. */
export const isDocumented = (path: string): boolean =>
  path.startsWith('shared/') || path.startsWith('server/engines/port/') || /^server\/(.*\/)?([\w-]+-)?store\.ts$/.test(path)

/** Exported functions without a docstring, as `path name`; the methods of exported interfaces count where those are a port. */
export const undocumentedIn = ({ path, lines }: Source): string[] => {
  const file = ts.createSourceFile('source.ts', lines.join('\n'), ts.ScriptTarget.Latest, true)
  const bare = (node: ts.Node) => ts.getJSDocCommentsAndTags(node).length === 0
  return file.statements
    .filter(isExported)
    .flatMap((statement) => functionsOf(statement, path.includes('/port/')))
    .filter(({ node }) => bare(node))
    .map(({ name }) => `${path} ${name}`)
}

interface Named {
  name: string
  node: ts.Node
}

const isExported = (node: ts.Node): boolean =>
  ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)

function functionsOf(statement: ts.Statement, isPort: boolean): Named[] {
  if (ts.isFunctionDeclaration(statement)) return [{ name: statement.name?.text ?? '', node: statement }]
  if (ts.isInterfaceDeclaration(statement) && isPort)
    return statement.members
      .filter((member) => ts.isMethodSignature(member))
      .map((member) => ({ name: `${statement.name.text}.${member.name.getText()}`, node: member }))
  if (!ts.isVariableStatement(statement)) return []
  return statement.declarationList.declarations
    .filter(({ initializer }) => initializer !== undefined && (ts.isArrowFunction(initializer) || ts.isFunctionExpression(initializer)))
    .map(({ name }) => ({ name: name.getText(), node: statement }))
}
