import { type ApolloServerPlugin, type GraphQLRequestContext, type GraphQLResponse, HeaderMap } from '@apollo/server';
import {
  GraphQLError,
  getArgumentValues,
  getVariableValues,
  Kind,
  locatedError,
  type OperationDefinitionNode,
} from 'graphql';
import type { IdempotentRequests } from '../../domain/admins/idempotent-requests.ts';
import { type Problem, Refusal } from '../../domain/kernel/problem.ts';
import { operationRuleOf } from './access.ts';
import { authorized } from './authorize.ts';
import type { AdminRequest } from './context.ts';
import { errorFor, formatError, isBug } from './graphql-error.ts';
import type { Owner } from './ownership.ts';

/** Header of a mutation that takes effect once (decisions/0349). */
const idempotencyHeader = 'Idempotency-Key';

interface IdempotencyDeps {
  idempotentRequests: IdempotentRequests;
  /** Called for unexpected errors. */
  onBug(error: unknown, requestId: string): void;
}

type Request = GraphQLRequestContext<AdminRequest>;

/**
 * A mutation with an `Idempotency-Key` is carried out once; for 24 hours, an equal request of the same caller gets the same
 * answer, if the caller still has the right to it. A refused mutation frees its key.
 */
export function idempotencyPlugin({ idempotentRequests, onBug }: IdempotencyDeps): ApolloServerPlugin<AdminRequest> {
  return {
    async requestDidStart() {
      let claimed: (Owner & { id: string }) | undefined;
      return {
        async responseForOperation(request) {
          const key = request.request.http?.headers.get(idempotencyHeader);
          if (key === undefined || request.operation?.operation !== 'mutation') return null;
          try {
            const problem = faultOf(key, request.operation);
            if (problem) return refusal(problem);
            const identity = { ...callerOf(request), key, request: textOf(request) };
            const about = await authorizedFor(request, request.operation, async () => {
              const answer = await idempotentRequests.answer(identity);
              return answer === undefined ? undefined : ownerIn(answer);
            });
            if (!about) return null;
            const claim = await idempotentRequests.claim(identity);
            if (claim.state === 'answered') return answerOf(resultIn(claim.answer));
            if (claim.state === 'other') return refusal(invalid('was used for another request'));
            if (claim.state === 'unknown') return answerOf({ errors: [outcomeUnknown.toJSON()] });
            claimed = { ...about, id: claim.id };
            return null;
          } catch (error) {
            const located = locatedError(error, request.operation.selectionSet.selections, [idempotencyHeader]);
            if (isBug(located)) onBug(error, request.contextValue.requestId);
            return answerOf({ errors: [formatError(located.toJSON(), located)] });
          }
        },
        async willSendResponse({ response, contextValue }) {
          if (claimed === undefined || response.body.kind !== 'single') return;
          const { data, errors = [] } = response.body.singleResult;
          // Errors below the mutation are part of its answer.
          const failed = errors.find(({ path }) => (path?.length ?? 0) < 2);
          try {
            if (!failed) {
              const { id, ...owner } = claimed;
              const answer = { data, errors: errors.length > 0 ? errors : undefined, ...owner };
              await idempotentRequests.settle(id, JSON.stringify(answer));
            }
            // After an unexpected error, the mutation may have run or not.
            else if (failed.extensions?.['code'] !== 'INTERNAL_SERVER_ERROR')
              await idempotentRequests.release(claimed.id);
          } catch (error) {
            // The mutation has ended, and its answer is sent. A retry gets `outcome-unknown`.
            onBug(error, contextValue.requestId);
          }
        },
      };
    },
  };
}

const outcomeUnknown = new GraphQLError(
  `The request with this ${idempotencyHeader} is in progress, or its outcome is unknown. Read what it changes before you send it with another key.`,
  { extensions: { code: 'outcome-unknown', field: idempotencyHeader } },
);

const invalid = (reason: string): Problem => ({ code: 'invalid', field: idempotencyHeader, reason });

function faultOf(key: string, { selectionSet: { selections } }: OperationDefinitionNode): Problem | undefined {
  if (!/^[\x21-\x7e]{16,128}$/.test(key)) return invalid('must have 16 to 128 visible ASCII characters');
  if (selections.length !== 1 || selections[0]?.kind !== Kind.FIELD) {
    return invalid('requires a request with one mutation');
  }
  return undefined;
}

/**
 * Where the caller has the right to change; null if the inputs are invalid: the execution refuses them. Throws if
 * the caller lacks the right. The node of a deletion is gone at its retry: then the right where it was counts.
 */
async function authorizedFor(
  { schema, request, contextValue }: Request,
  { selectionSet, variableDefinitions = [] }: OperationDefinitionNode,
  storedOwner: () => Promise<Owner | undefined>,
): Promise<Owner | null> {
  const type = schema.getMutationType();
  const [node] = selectionSet.selections;
  const field = node?.kind === Kind.FIELD ? type?.getFields()[node.name.value] : undefined;
  const { coerced } = getVariableValues(schema, variableDefinitions, request.variables ?? {});
  if (!type || !field || node?.kind !== Kind.FIELD || !coerced) return null;
  const operation = [operationRuleOf(type, field), getArgumentValues(field, node, coerced), contextValue] as const;
  try {
    return await authorized(...operation);
  } catch (error) {
    const isGone = error instanceof Refusal && error.problem.code === 'not-found';
    const stored = isGone ? await storedOwner() : undefined;
    if (!stored) throw error;
    return authorized(...operation, stored);
  }
}

type StoredAnswer = Extract<GraphQLResponse['body'], { kind: 'single' }>['singleResult'] & {
  /** Absent: the previous release stored it. */
  projectId?: string | null;
  organizationId?: string | null;
};

function ownerIn(answer: string): Owner | undefined {
  const { projectId, organizationId = null } = JSON.parse(answer) as StoredAnswer;
  return projectId === undefined ? undefined : { projectId, organizationId };
}

function resultIn(answer: string) {
  const { projectId: _, organizationId: __, ...result } = JSON.parse(answer) as StoredAnswer;
  return result;
}

const callerOf = ({ contextValue: { caller } }: Request) => ({ caller: `${caller.kind}:${caller.id ?? ''}` });

const textOf = ({ request: { query, operationName, variables } }: Request) =>
  JSON.stringify([query, operationName ?? null, variables ?? {}]);

const refusal = (problem: Problem) => answerOf({ errors: [errorFor(problem).toJSON()] });

function answerOf(singleResult: Extract<GraphQLResponse['body'], { kind: 'single' }>['singleResult']): GraphQLResponse {
  return { body: { kind: 'single', singleResult }, http: { headers: new HeaderMap() } };
}
