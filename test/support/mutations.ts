// Finds the places of a source file where one small change makes another program: conditions, bounds, constants, and
// statements and awaits that can be left out. What only types or messages say is left alone.

import ts from 'typescript';

export interface Mutation {
  readonly path: string;
  readonly line: number;
  /** The position in the text that is replaced. */
  readonly start: number;
  readonly end: number;
  readonly before: string;
  readonly after: string;
}

/** Each operator, and what it becomes. */
const OPERATORS = new Map(
  '< <= >=, <= < >, > >= <=, >= > <, === !==, !== ===, && ||, || &&, + -, - +, * /, / *, &&= =, ||= =, ??= ='
    .split(', ')
    .map((text) => text.split(' '))
    .map(([operator = '', ...others]) => [operator, others]),
);

export function mutationsOf(path: string, text: string): Mutation[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found: Mutation[] = [];
  const replace = (node: ts.Node, after: string) => {
    const [start, end] = [node.getStart(source), node.getEnd()];
    const line = source.getLineAndCharacterOfPosition(start).line + 1;
    found.push({ path, line, start, end, before: text.slice(start, end), after });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    if (ts.isImportDeclaration(node) || ts.isThrowStatement(node)) return;
    if (ts.isIfStatement(node)) for (const other of ['true', 'false']) replace(node.expression, other);
    if (ts.isConditionalExpression(node)) for (const other of ['true', 'false']) replace(node.condition, other);
    if (ts.isBinaryExpression(node)) {
      const { left, operatorToken, right } = node;
      const operator = operatorToken.getText();
      const isText = [left, right].some((side) => ts.isStringLiteralLike(side) || ts.isTemplateExpression(side));
      if (!isText) for (const other of OPERATORS.get(operator) ?? []) replace(operatorToken, other);
      if (operator === '??') replace(node, `(${left.getText()})`);
    }
    if (ts.isNumericLiteral(node) || ts.isBigIntLiteral(node))
      for (const other of numbersNear(node)) replace(node, other);
    if (node.kind === ts.SyntaxKind.TrueKeyword) replace(node, 'false');
    if (node.kind === ts.SyntaxKind.FalseKeyword) replace(node, 'true');
    if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken)
      replace(node, node.operand.getText());
    if (ts.isAwaitExpression(node)) replace(node, `(${node.expression.getText()})`);
    if (ts.isExpressionStatement(node) || ts.isContinueStatement(node) || ts.isBreakStatement(node)) replace(node, ';');
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function numbersNear(node: ts.NumericLiteral | ts.BigIntLiteral): string[] {
  const text = node.getText();
  if (ts.isBigIntLiteral(node)) return [`(${text} + 1n)`];
  const value = Number(text.replaceAll('_', ''));
  return value > 9 ? [`${value + 1}`, `${value * 10}`, '1'] : [`${value + 1}`];
}
