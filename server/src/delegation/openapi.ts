import {
  type DelegationOperation,
  delegationFailureSchema,
  delegationMediaType,
  delegationOperations,
  delegationRequest,
  delegationResponseSchema,
  delegationResultSchemas,
} from '@latchkey/contracts';
import {
  type ApiPart,
  json,
  named,
  type Operation,
  type Schema,
  schemaOf,
  secured,
  statuses,
  text,
} from '../http/openapi/document.ts';
import { delegationFailureStatuses } from './delegation-error.ts';

const pascal = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);
const operations = Object.keys(delegationOperations) as DelegationOperation[];

/** A compact JWE around a compact JWS around the JSON of `payload`. */
const sealed = (payload: Schema): Schema => ({
  type: 'string',
  contentMediaType: delegationMediaType,
  contentSchema: payload,
});

const refusals = statuses(delegationFailureStatuses, {
  description: 'The request was refused before it could be decrypted.',
  content: json(named('DelegationFailure')),
});

/** The encrypted channel of back ends (`shared/contracts`). */
export const delegationApi = (): Omit<ApiPart, 'paths'> => ({
  tag: {
    name: 'Delegation',
    description:
      "A back end's requests about second factors of its users: a JWS (EdDSA) in a JWE (ECDH-ES, A256GCM), answered in the same way. " +
      'Test vectors are in shared/contracts/vectors.',
  },
  schemas: {
    DelegationRequest: schemaOf(delegationRequest),
    DelegationResponse: schemaOf(delegationResponseSchema),
    DelegationFailure: schemaOf(delegationFailureSchema),
    ...Object.fromEntries(
      operations.flatMap((operation) => [
        [`${pascal(operation)}Body`, schemaOf(delegationOperations[operation])],
        [`${pascal(operation)}Result`, schemaOf(delegationResultSchemas[operation])],
      ]),
    ),
  },
});

export const audienceOperation = (): Operation => ({
  operationId: 'delegationAudience',
  summary: 'Read the audience of requests',
  responses: {
    200: {
      description: 'aud of a request is {issuer}/{project_id}, iss is client_id.',
      content: json({
        type: 'object',
        properties: {
          issuer: text('Base address.'),
          project_id: text('Project.'),
          client_id: text('Client ID.'),
        },
        required: ['issuer', 'project_id', 'client_id'],
      }),
    },
    ...refusals,
  },
  security: secured('secretKey'),
});

export const delegateOperation = (): Operation => ({
  operationId: 'delegate',
  summary: 'Run an operation',
  description: `Operations: ${operations.join(', ')}. Refusals after decryption are encrypted with status 200.`,
  requestBody: {
    required: true,
    content: json(sealed(named('DelegationRequest')), delegationMediaType),
  },
  responses: {
    200: {
      description: 'The encrypted response; its `status` is that of the operation.',
      content: json(sealed(named('DelegationResponse')), delegationMediaType),
    },
    ...refusals,
  },
  security: secured('secretKey'),
});
