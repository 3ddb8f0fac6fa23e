import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  getNullableType,
  isCompositeType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

/** Limits of a request. `cost` is the largest number of values in its response. */
export const limits = { depth: 10, introspectionDepth: 20, aliases: 15, cost: 10_000, tokens: 2000 } as const;

/** Page size if `first` is absent. */
export const defaultPageSize = 50;
/** Assumed length of a list without pagination. */
const listSize = 10;

interface RequestSize {
  depth: number;
  introspectionDepth: number;
  aliases: number;
  cost: number;
}

const zero: RequestSize = { depth: 0, introspectionDepth: 0, aliases: 0, cost: 0 };

/** Creates the check for a schema; reads its list fields once. */
export function limitsOf(schema: GraphQLSchema) {
  const fields = pluralFields(schema);

  /** Refuses `too-complex` beyond a limit. */
  return function check(
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: Record<string, unknown>,
  ): void {
    const size = new SizeOfRequest(fields, document, operation, variables).ofSelections(operation.selectionSet);
    for (const limit of ['depth', 'introspectionDepth', 'aliases', 'cost'] as const) {
      if (size[limit] > limits[limit]) refuseTooComplex(limit);
    }
  };
}

/** Measures selections recursively. Each fragment is measured once. */
class SizeOfRequest {
  private readonly fields: PluralFields;
  private readonly operation: OperationDefinitionNode;
  private readonly variables: Record<string, unknown>;
  private readonly fragments = new Map<string, FragmentDefinitionNode>();
  private readonly measured = new Map<string, RequestSize>();

  constructor(
    fields: PluralFields,
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: Record<string, unknown>,
  ) {
    this.fields = fields;
    this.operation = operation;
    this.variables = variables;
    for (const definition of document.definitions) {
      if (definition.kind === Kind.FRAGMENT_DEFINITION) this.fragments.set(definition.name.value, definition);
    }
  }

  ofSelections(set: SelectionSetNode | undefined): RequestSize {
    const sum = { ...zero };
    for (const selection of set?.selections ?? []) {
      const part = this.ofSelection(selection);
      sum.depth = Math.max(sum.depth, part.depth);
      sum.introspectionDepth = Math.max(sum.introspectionDepth, part.introspectionDepth);
      sum.aliases += part.aliases;
      sum.cost += part.cost;
    }
    return sum;
  }

  private ofSelection(selection: SelectionNode): RequestSize {
    if (selection.kind === Kind.FIELD) return this.ofField(selection);
    if (selection.kind === Kind.INLINE_FRAGMENT) return this.ofSelections(selection.selectionSet);
    return this.ofFragment(selection.name.value);
  }

  private ofField(field: FieldNode): RequestSize {
    const inner = this.ofSelections(field.selectionSet);
    const aliases = inner.aliases + (field.alias ? 1 : 0);
    if (field.name.value.startsWith('__')) {
      // Introspection: its result is bounded and the same for every caller.
      return { depth: 1, introspectionDepth: inner.depth + 1, aliases, cost: 1 };
    }
    const cost = 1 + inner.cost * this.lengthOf(field);
    return { depth: inner.depth + 1, introspectionDepth: inner.introspectionDepth, aliases, cost };
  }

  private ofFragment(name: string): RequestSize {
    let size = this.measured.get(name);
    if (!size) {
      // Validation refuses cycles; this also terminates if one gets here.
      this.measured.set(name, zero);
      size = this.ofSelections(this.fragments.get(name)?.selectionSet);
      this.measured.set(name, size);
    }
    return size;
  }

  private lengthOf(field: FieldNode): number {
    const { lists, pages } = this.fields;
    const name = field.name.value;
    // Some names are pages of one type and lists of another.
    return Math.max(lists.has(name) ? listSize : 1, pages.has(name) ? this.pageSizeOf(field) : 1);
  }

  private pageSizeOf(field: FieldNode): number {
    const first = field.arguments?.find((argument) => argument.name.value === 'first')?.value;
    if (first?.kind === Kind.INT) return Math.max(1, Number(first.value));
    if (first?.kind !== Kind.VARIABLE) return defaultPageSize;
    const name = first.name.value;
    const definition = this.operation.variableDefinitions?.find((one) => one.variable.name.value === name);
    const fallback =
      definition?.defaultValue?.kind === Kind.INT ? Number(definition.defaultValue.value) : defaultPageSize;
    const value = this.variables[name] ?? fallback;
    return typeof value === 'number' ? Math.max(1, value) : defaultPageSize;
  }
}

function refuseTooComplex(limit: keyof RequestSize): never {
  throw new GraphQLError(`The request is too large: ${limit} must be at most ${limits[limit]}.`, {
    extensions: { code: 'too-complex', limit, max: limits[limit], http: { status: 400 } },
  });
}

/** Names of fields with the argument `first`, and of fields with a list of objects and no such argument. */
interface PluralFields {
  pages: Set<string>;
  lists: Set<string>;
}

function pluralFields(schema: GraphQLSchema): PluralFields {
  const pages = new Set<string>();
  const lists = new Set<string>();
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const list = getNullableType(field.type);
      if (field.args.some((argument) => argument.name === 'first')) pages.add(field.name);
      // The page counts its edges.
      else if (isListType(list) && isCompositeType(getNullableType(list.ofType)) && field.name !== 'edges') {
        lists.add(field.name);
      }
    }
  }
  return { pages, lists };
}
