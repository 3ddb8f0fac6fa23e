import { z } from 'zod';

/** JSON Schema 2020-12, the dialect of OpenAPI 3.1. */
export type Schema = Record<string, unknown>;

interface Content {
  [mediaType: string]: { schema: Schema };
}

interface Parameter {
  name: string;
  in: 'query' | 'header' | 'path';
  description: string;
  required?: boolean;
  schema: Schema;
}

export interface Answer {
  description: string;
  headers?: Record<string, { description: string; schema: Schema }>;
  content?: Content;
}

/** An operation (OpenAPI 3.1 section 4.8.10). */
export interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  parameters?: readonly Parameter[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<string, Answer>;
  /** Alternatives; empty: no authentication. */
  security: readonly Record<string, readonly string[]>[];
}

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
export type Paths = Record<string, Partial<Record<Method, Operation>>>;

/** The endpoints of one standard. */
export interface ApiPart {
  /** Heading of its operations. */
  tag: { name: string; description: string };
  paths: Paths;
  schemas?: Record<string, Schema>;
}

/** Authentication methods by their names in `security` of an operation. */
const securitySchemes = {
  publishableKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Api-Key',
    description: "A publishable key of the application (lk_pk_…), from the origins of the application's redirect URIs.",
  },
  secretKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Api-Key',
    description: 'A secret key of the application (lk_sk_…), from its back end.',
  },
  clientSecret: {
    type: 'http',
    scheme: 'basic',
    description: 'Client ID and client secret (client_secret_basic), at the issuers of projects.',
  },
  accessToken: { type: 'http', scheme: 'bearer', description: 'An access token of this issuer.' },
  registrationToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'An initial access token (RFC 7591), or a registration access token (RFC 7592).',
  },
  scimToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'A SCIM token of the project (lk_scim_…), or an access token of an application with the scope scim.',
  },
} as const;

/** Names of {@link securitySchemes}, for the `security` of an operation. */
export const secured = (...names: (keyof typeof securitySchemes)[]): Operation['security'] =>
  names.map((name) => ({ [name]: [] }));

/** The OpenAPI 3.1 document of the parts. Each path and each schema belongs to one part. */
export function openApiDocument(baseUrl: string, parts: readonly ApiPart[]) {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Latchkey',
      version: '1',
      description:
        'Sign-in, delegation, SCIM 2.0 and OpenID Connect over HTTP. Responses can get further members: ignore unknown ones.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }],
    tags: parts.map(({ tag }) => tag),
    paths: merged(parts.map(({ tag, paths }) => tagged(paths, tag.name))),
    components: { schemas: merged(parts.map(({ schemas = {} }) => schemas)), securitySchemes },
  };
}
export type OpenApiDocument = ReturnType<typeof openApiDocument>;

function tagged(paths: Paths, tag: string) {
  return Object.fromEntries(
    Object.entries(paths).map(([path, operations]) => [
      path,
      Object.fromEntries(
        Object.entries(operations).map(([method, operation]) => [method, { ...operation, tags: [tag] }]),
      ),
    ]),
  ) as Record<string, Partial<Record<Method, Operation & { tags: string[] }>>>;
}

function merged<T>(parts: readonly Record<string, T>[]): Record<string, T> {
  const entries = parts.flatMap((part) => Object.entries(part));
  const all = Object.fromEntries(entries);
  if (Object.keys(all).length !== entries.length) throw new Error('a path or schema belongs to two parts');
  return all;
}

/** A schema of the document by its name. */
export const named = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

export const json = (schema: Schema, mediaType = 'application/json'): Content => ({ [mediaType]: { schema } });

export const form = (properties: Record<string, Schema>, required: readonly string[]): Operation['requestBody'] => ({
  required: true,
  content: json({ type: 'object', properties, required: [...required] }, 'application/x-www-form-urlencoded'),
});

export const text = (description: string, more: Schema = {}): Schema => ({ type: 'string', description, ...more });

/** The same response for several statuses. */
export function statuses(codes: readonly number[], answer: Answer): Record<string, Answer> {
  return Object.fromEntries([...new Set(codes)].toSorted((a, b) => a - b).map((code) => [String(code), answer]));
}

/** The names in braces of a path template, as required parameters. */
export function pathParameters(descriptions: Record<string, string>): Parameter[] {
  return Object.entries(descriptions).map(([name, description]) => ({
    name,
    in: 'path',
    required: true,
    description,
    schema: { type: 'string' },
  }));
}

/** The JSON Schema of a zod schema. Objects stay open: receivers ignore unknown members. */
export function schemaOf(schema: z.ZodType): Schema {
  const { $schema: _, ...converted } = z.toJSONSchema(schema, {
    io: 'input',
    override: ({ jsonSchema }) => {
      // Bounds of every `z.int()`.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return converted;
}
