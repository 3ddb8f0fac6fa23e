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
  type SelectionSetNode,
} from 'graphql';

/** Limits of a request. `cost` is the largest number of values in its response. */
export const limits = { depth: 10, introspectionDepth: 20, aliases: 15, cost: 10_000, tokens: 2000 } as const;

/** Page size if `first` is absent. */
export const defaultPageSize = 50;
/** Assumed length of a list without pagination. */
const listSize = 10;

interface Measure {
  depth: number;
  introspectionDepth: number;
  aliases: number;
  cost: number;
}

const none: Measure = { depth: 0, introspectionDepth: 0, aliases: 0, cost: 0 };

/** Creates the check for a schema; reads its list fields once. */
export function limitsOf(schema: GraphQLSchema) {
  const { pages, lists } = pluralFields(schema);

  /** Refuses `too-complex` beyond a limit. Each fragment is measured once. */
  return function check(
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: Record<string, unknown>,
  ): void {
    const fragments = new Map<string, FragmentDefinitionNode>();
    for (const definition of document.definitions) {
      if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
    }
    const measured = new Map<string, Measure>();
    const total = measureSet(operation.selectionSet);
    for (const what of ['depth', 'introspectionDepth', 'aliases', 'cost'] as const) {
      if (total[what] > limits[what]) refuseTooComplex(what);
    }

    function measureSet(set: SelectionSetNode | undefined): Measure {
      const sum = { ...none };
      for (const selection of set?.selections ?? []) {
        const part =
          selection.kind === Kind.FIELD
            ? measureField(selection)
            : selection.kind === Kind.INLINE_FRAGMENT
              ? measureSet(selection.selectionSet)
              : measureFragment(selection.name.value);
        sum.depth = Math.max(sum.depth, part.depth);
        sum.introspectionDepth = Math.max(sum.introspectionDepth, part.introspectionDepth);
        sum.aliases += part.aliases;
        sum.cost += part.cost;
      }
      return sum;
    }

    function measureField(field: FieldNode): Measure {
      const inner = measureSet(field.selectionSet);
      const aliases = inner.aliases + (field.alias ? 1 : 0);
      if (field.name.value.startsWith('__')) {
        // Introspection: its result is bounded and the same for every caller.
        return { depth: 1, introspectionDepth: inner.depth + 1, aliases, cost: 1 };
      }
      const cost = 1 + inner.cost * sizeOf(field);
      return { depth: inner.depth + 1, introspectionDepth: inner.introspectionDepth, aliases, cost };
    }

    function measureFragment(name: string): Measure {
      let measure = measured.get(name);
      if (!measure) {
        // Validation refuses cycles; this also terminates if one gets here.
        measured.set(name, none);
        measure = measureSet(fragments.get(name)?.selectionSet);
        measured.set(name, measure);
      }
      return measure;
    }

    function sizeOf(field: FieldNode): number {
      if (lists.has(field.name.value)) return listSize;
      return pages.has(field.name.value) ? pageSizeOf(field) : 1;
    }

    function pageSizeOf(field: FieldNode): number {
      const first = field.arguments?.find((argument) => argument.name.value === 'first')?.value;
      if (first?.kind === Kind.INT) return Math.max(1, Number(first.value));
      if (first?.kind !== Kind.VARIABLE) return defaultPageSize;
      const name = first.name.value;
      const standard = operation.variableDefinitions?.find((one) => one.variable.name.value === name)?.defaultValue;
      const value = variables[name] ?? (standard?.kind === Kind.INT ? Number(standard.value) : defaultPageSize);
      return typeof value === 'number' ? Math.max(1, value) : defaultPageSize;
    }
  };
}

function refuseTooComplex(what: keyof Measure): never {
  throw new GraphQLError(`The request is too large: ${what} is at most ${limits[what]}.`, {
    extensions: { code: 'too-complex', limit: what, max: limits[what], http: { status: 400 } },
  });
}

/** Names of fields with the argument `first`, and of fields with a list of objects and no such argument. */
function pluralFields(schema: GraphQLSchema): { pages: Set<string>; lists: Set<string> } {
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
