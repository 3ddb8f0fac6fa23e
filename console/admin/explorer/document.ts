import { type DocumentNode, Kind, parse, print, TokenKind } from 'graphql';

export interface OperationName {
  /** Empty: the operation has none. */
  name: string;
  isMutation: boolean;
}

/** The operations of a text; empty if it does not parse. */
export function operationsOf(text: string): OperationName[] {
  return (
    parsed(text)?.definitions.flatMap((node) =>
      node.kind === Kind.OPERATION_DEFINITION
        ? [{ name: node.name?.value ?? '', isMutation: node.operation === 'mutation' }]
        : [],
    ) ?? []
  );
}

/** The text with the usual indentation; unchanged if it does not parse, or has comments, which would be lost. */
export function formatted(text: string): string {
  const document = parsed(text);
  return document && !hasComment(document) ? print(document) : text;
}

/** The variables of a request. Undefined: not a JSON object. */
export function variablesOf(text: string): object | undefined {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function parsed(text: string): DocumentNode | undefined {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

function hasComment({ loc }: DocumentNode): boolean {
  for (let token = loc?.startToken; token; token = token.next ?? undefined) {
    if (token.kind === TokenKind.COMMENT) return true;
  }
  return false;
}
