import { unescape } from 'node:querystring';
import type { Request } from 'express';
import type { Directory } from '../../domain/directories/directories.ts';
import type { RequestEntry } from '../../domain/directories/request-records.ts';
import { isStorableText, isUuid } from '../../domain/kernel/secret.ts';
import type { CustomSchema } from '../../domain/users/custom/values.ts';
import { requestContext } from '../../http/context.ts';
import { listResponseSchema } from '../answer.ts';
import { isObject } from '../patch-operations.ts';
import { userTypeOf } from '../schema/custom.ts';
import type { ScimError } from '../scim-error.ts';
import { plusEncoded } from '../search/search-request.ts';
import { concerned } from './concerned-users.ts';
import { ignoredAttributes } from './ignored.ts';
import { Redaction } from './redaction.ts';

const maxText = 8192;

/** The outcome of a request, for its record. */
export interface RequestOutcome {
  at: Date;
  durationMs: number;
  status: number;
  error: ScimError | undefined;
  requestBody: unknown;
  responseBody: unknown;
  resourceId: string | undefined;
}

/** The record of a request: no secrets ({@link Redaction}), only the totals of lists, long texts truncated. */
export function recordOf(
  req: Request,
  directory: Directory,
  custom: CustomSchema,
  outcome: RequestOutcome,
): RequestEntry {
  const { error, resourceId } = outcome;
  const userType = userTypeOf(custom);
  const redaction = new Redaction(userType);
  // Decoded, for readers.
  const path = cut(redaction.path(unescape(plusEncoded(req.url).replaceAll('+', ' '))), 2048);
  const requestBody = redaction.body(outcome.requestBody);
  const ignored = error ? [] : ignoredAttributes(req.url, outcome.requestBody, userType);
  const responseBody = error ? error.toJSON() : summary(outcome.responseBody, redaction);
  return {
    projectId: directory.projectId,
    organizationId: directory.organizationId,
    schemaVersion: custom.version,
    tokenId: directory.tokenId,
    tokenName: directory.tokenName,
    address: requestContext(req).ip ?? null,
    at: outcome.at,
    method: req.method,
    path,
    resourceId: isUuid(resourceId) ? resourceId : null,
    status: outcome.status,
    scimType: error?.scimType ?? null,
    detail: error ? cut(error.message, 1000) : null,
    durationMs: Math.round(outcome.durationMs),
    userAgent:
      req
        .get('user-agent')
        ?.replace(/[^\x20-\x7e]/g, '?')
        .slice(0, 200) ?? null,
    requestBody: textOf(requestBody),
    responseBody: textOf(responseBody),
    ignored: ignored.map((name) => cut(redaction.filter(name), 200)),
    concerns: concerned({
      path,
      requestBody,
      responseBody,
      found: outcome.responseBody,
      isRefused: error !== undefined,
    }),
  };
}

function summary(body: unknown, redaction: Redaction): unknown {
  if (!isObject(body)) return undefined;
  const isList = Array.isArray(body['schemas']) && body['schemas'].includes(listResponseSchema);
  return isList ? { ...body, Resources: undefined } : redaction.body(body);
}

function textOf(value: unknown): string | null {
  const text = value === undefined ? undefined : JSON.stringify(value);
  return text === undefined ? null : cut(text, maxText);
}

function cut(text: string, length: number): string {
  const short = text.length > length ? `${text.slice(0, length)}…` : text;
  return isStorableText(short) ? short : short.toWellFormed().replaceAll('\0', '\uFFFD');
}
