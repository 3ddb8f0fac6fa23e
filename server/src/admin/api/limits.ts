import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isCompositeType,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

/** Limits of a request. `cost` is the largest number of values in its response. `introspections`: `__schema` and `__type`. */
export const limits = {
  depth: 10,
  introspectionDepth: 20,
  introspections: 1,
  aliases: 15,
  cost: 10_000,
  tokens: 2000,
} as const;

/** Page size if `first` is absent. */
export const defaultPageSize = 50;
/** Assumed length of a list without pagination. */
const listSize = 10;

interface RequestSize {
  depth: number;
  introspectionDepth: number;
  introspections: number;
  aliases: number;
  cost: number;
}

const zero: RequestSize = { depth: 0, introspectionDepth: 0, introspections: 0, aliases: 0, cost: 0 };

/** Creates the check for a schema. */
export function limitsOf(schema: GraphQLSchema) {
  /** Refuses `too-complex` beyond a limit. */
  return function check(
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: Record<string, unknown>,
  ): void {
    const root = schema.getRootType(operation.operation) ?? undefined;
    const size = new SizeOfRequest(schema, document, operation, variables).ofSelections(operation.selectionSet, root);
    for (const limit of ['depth', 'introspectionDepth', 'introspections', 'aliases', 'cost'] as const) {
      if (size[limit] > limits[limit]) refuseTooComplex(limit);
    }
  };
}

/**
 * Measures selections recursively. Each fragment is measured once. Types that the schema does not have are undefined.
 */
class SizeOfRequest {
  private readonly schema: GraphQLSchema;
  private readonly operation: OperationDefinitionNode;
  private readonly variables: Record<string, unknown>;
  private readonly fragments = new Map<string, FragmentDefinitionNode>();
  private readonly measured = new Map<string, RequestSize>();

  constructor(
    schema: GraphQLSchema,
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: Record<string, unknown>,
  ) {
    this.schema = schema;
    this.operation = operation;
    this.variables = variables;
    for (const definition of document.definitions) {
      if (definition.kind === Kind.FRAGMENT_DEFINITION) this.fragments.set(definition.name.value, definition);
    }
  }

  ofSelections(set: SelectionSetNode | undefined, type: GraphQLNamedType | undefined): RequestSize {
    const sum = { ...zero };
    for (const selection of set?.selections ?? []) {
      const part = this.ofSelection(selection, type);
      sum.depth = Math.max(sum.depth, part.depth);
      sum.introspectionDepth = Math.max(sum.introspectionDepth, part.introspectionDepth);
      sum.introspections += part.introspections;
      sum.aliases += part.aliases;
      sum.cost += part.cost;
    }
    return sum;
  }

  private ofSelection(selection: SelectionNode, type: GraphQLNamedType | undefined): RequestSize {
    if (selection.kind === Kind.FIELD) return this.ofField(selection, type);
    if (selection.kind === Kind.FRAGMENT_SPREAD) return this.ofFragment(selection.name.value);
    const condition = selection.typeCondition?.name.value;
    return this.ofSelections(selection.selectionSet, condition === undefined ? type : this.schema.getType(condition));
  }

  private ofField(node: FieldNode, type: GraphQLNamedType | undefined): RequestSize {
    const name = node.name.value;
    const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
    const inner = this.ofSelections(node.selectionSet, field && getNamedType(field.type));
    const aliases = inner.aliases + (node.alias ? 1 : 0);
    if (name.startsWith('__')) {
      // Introspection has a large but bounded result, the same for every caller: its number is limited, not its cost.
      const introspections = name === '__typename' ? 0 : 1;
      return { depth: 1, introspectionDepth: inner.depth + 1, introspections, aliases, cost: 1 };
    }
    const cost = 1 + inner.cost * (field ? this.lengthOf(node, field) : 1);
    return { ...inner, depth: inner.depth + 1, aliases, cost };
  }

  private ofFragment(name: string): RequestSize {
    let size = this.measured.get(name);
    if (!size) {
      // Validation refuses cycles; with this, a cycle would terminate, too.
      this.measured.set(name, zero);
      const fragment = this.fragments.get(name);
      const type = fragment && this.schema.getType(fragment.typeCondition.name.value);
      size = this.ofSelections(fragment?.selectionSet, type);
      this.measured.set(name, size);
    }
    return size;
  }

  private lengthOf(node: FieldNode, { args, type }: GraphQLField<unknown, unknown>): number {
    if (args.some((argument) => argument.name === 'first')) return this.pageSizeOf(node);
    const list = getNullableType(type);
    // The page counts its edges.
    const isList = isListType(list) && isCompositeType(getNullableType(list.ofType)) && node.name.value !== 'edges';
    return isList ? listSize : 1;
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
