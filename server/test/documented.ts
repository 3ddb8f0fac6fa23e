import { expect, vi } from 'vitest';
import { z } from 'zod';
import type { Method, Operation, Schema } from '../src/http/openapi/document.ts';

interface Documented {
  paths: Record<string, Partial<Record<Method, Operation>>>;
  components: { schemas: Record<string, Schema> };
}

/** Compares every response that this process receives from an instance with the OpenAPI document of the instance. */
export class DocumentedResponses {
  /** `operationId status` of the responses so far. */
  readonly seen = new Set<string>();
  private readonly faults: string[] = [];
  private readonly compiled = new Map<Schema, z.ZodType>();
  private readonly pending: Promise<void>[] = [];

  private constructor(
    private readonly baseUrl: string,
    private readonly document: Documented,
  ) {
    const send = globalThis.fetch;
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (...sent) => {
      const request = new Request(...(sent as [string]));
      const body = request.body === null ? undefined : await request.clone().text();
      const response = await send(...sent);
      const { pathname } = new URL(request.url);
      const method = request.method.toLowerCase() as Method;
      const compared = this.compare(method, pathname, request, body, response.clone());
      this.pending.push(compared.catch((error: unknown) => void this.faults.push(String(error))));
      return response;
    });
  }

  static async at(baseUrl: string): Promise<DocumentedResponses> {
    const document = (await (await fetch(`${baseUrl}/openapi.json`)).json()) as Documented;
    return new DocumentedResponses(baseUrl, document);
  }

  /** Fails with the differences so far. */
  async check(): Promise<void> {
    await Promise.all(this.pending.splice(0));
    expect(this.faults.splice(0)).toEqual([]);
  }

  /** Fails if the value does not follow a schema of the document. */
  follows(name: string, value: unknown): void {
    expect(this.fault({ $ref: `#/components/schemas/${name}` }, value)).toBeNull();
  }

  private async compare(
    method: Method,
    path: string,
    request: Request,
    body: string | undefined,
    response: Response,
  ): Promise<void> {
    if (!request.url.startsWith(this.baseUrl)) return;
    const found = this.operationAt(path)?.[method];
    if (!found) return;
    const { operationId, responses, requestBody } = found;
    const { status } = response;
    const name = `${operationId} ${status}`;
    this.seen.add(name);
    const answer = responses[status];
    if (!answer) return void this.faults.push(`${name} is not documented`);
    const fault = await this.bodyFault(answer.content, response);
    if (fault !== null) this.faults.push(`${name}: ${fault}`);
    if (!response.ok || !requestBody || body === undefined) return;
    const type = mediaTypeOf(request.headers);
    const schema = requestBody.content[type]?.schema;
    if (!schema) return void this.faults.push(`${name}: request of type ${type} is not documented`);
    const read = type.endsWith('json') ? JSON.parse(body) : type.includes('form') ? formOf(body) : body;
    const wrong = this.fault(schema, read);
    if (wrong !== null) this.faults.push(`${name}, request: ${wrong}`);
  }

  private async bodyFault(content: Operation['responses'][string]['content'], response: Response) {
    const text = await response.text();
    if (text === '') return null;
    const type = mediaTypeOf(response.headers);
    const schema = content?.[type]?.schema;
    if (!schema) return response.status === 303 ? null : `${type} is not documented`;
    return this.fault(schema, type.endsWith('json') ? JSON.parse(text) : text);
  }

  /** The path at which the value breaks the schema; null if it conforms. */
  private fault(schema: Schema, value: unknown): string | null {
    const known = this.compiled.get(schema);
    const compiled = known ?? z.fromJSONSchema(this.standalone(schema) as never);
    this.compiled.set(schema, compiled);
    const { error } = compiled.safeParse(value);
    return error ? `${z.prettifyError(error)} in ${JSON.stringify(value).slice(0, 600)}` : null;
  }

  private standalone(schema: Schema): Schema {
    const $defs = Object.fromEntries(
      Object.entries(this.document.components.schemas).map(([name, one]) => [name, closed(one)]),
    );
    return { ...(closed(schema) as Schema), $defs };
  }

  private operationAt(path: string) {
    const exact = this.document.paths[path];
    if (exact) return exact;
    const matching = Object.entries(this.document.paths).find(([template]) =>
      new RegExp(`^${template.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`).test(path),
    );
    return matching?.[1];
  }
}

/** The schema for senders that add no member: every member must be documented. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const all = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [
      name,
      // Also the name of a property.
      name === '$ref' && typeof value === 'string' ? value.replace('#/components/schemas/', '#/$defs/') : closed(value),
    ]),
  );
  const isClosable = all['type'] === 'object' && 'properties' in all && !('additionalProperties' in all);
  return isClosable ? { ...all, additionalProperties: false } : all;
}

const mediaTypeOf = (headers: Headers): string => headers.get('content-type')?.split(';')[0]?.trim() ?? '';

/** Values of a form; numeric ones as numbers. */
function formOf(body: string): Record<string, unknown> {
  return Object.fromEntries([...new URLSearchParams(body)].map(([name, value]) => [name, value]));
}
