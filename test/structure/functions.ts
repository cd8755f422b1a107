import { ts } from '@ts-morph/common'

/** Lines of each function that has a block, or a name: callbacks of one expression belong to the line they stand in. */
export function functionLines(text: string): number[] {
  const file = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest, true)
  const found: number[] = []
  const lineAt = (position: number) => file.getLineAndCharacterOfPosition(position).line
  const visit = (node: ts.Node): void => {
    if (isCounted(node)) found.push(lineAt(node.getEnd()) - lineAt(node.getStart(file)) + 1)
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

function isCounted(node: ts.Node): boolean {
  if (ts.isArrowFunction(node)) return ts.isBlock(node.body) || ts.isVariableDeclaration(node.parent)
  return ts.isFunctionLike(node) && 'body' in node && node.body !== undefined
}
