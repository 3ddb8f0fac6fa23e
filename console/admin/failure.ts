import { serverText } from './language/language.ts';

/** A failed request, with a message for display. */
export interface Failure {
  /** `extensions.code` of the admin API; `network` for a query without a response. */
  code: string;
  message: string;
  /** The input field that failed validation. */
  field?: string;
  /** The path of that field in the input: `mappings[2].claim`. */
  path?: string;
  requestId?: string;
  /** Time of the next attempt, in milliseconds since 1970. */
  retryAt?: number;
  /** Loads the values that the request may have changed, or that others have changed, and clears the failure. */
  load?: () => Promise<void>;
}

/**
 * Code of a mutation that may have been carried out: its response was lost, or the server could not determine its
 * outcome.
 */
export const outcomeUnknown = 'outcome-unknown';

/** Whether the mutation may have been carried out. */
export const isUnknown = ({ code }: Failure): boolean => code === outcomeUnknown || code === 'INTERNAL_SERVER_ERROR';

export class RequestError extends Error implements Failure {
  declare readonly code: string;
  declare readonly field?: string;
  declare readonly path?: string;
  declare readonly requestId?: string;
  declare readonly retryAt?: number;

  constructor(failure: Failure) {
    super(failure.message);
    Object.assign(this, failure);
  }
}

/** The failure's message if it is about this field. */
export const faultAt = (failure: Failure | undefined, field: string): string | undefined =>
  failure?.field === field ? failure.message : undefined;

/** An element of `errors` in a GraphQL response. */
export interface ResponseError {
  message: string;
  extensions?: { code?: string; field?: string; requestId?: string; retryAfterSeconds?: number };
}

export function failureOf({ message, extensions = {} }: ResponseError): Failure {
  const { code = 'unknown', field, requestId, retryAfterSeconds } = extensions;
  return {
    code,
    message: sentence(message, field),
    ...(retryAfterSeconds === undefined ? {} : { retryAt: Date.now() + retryAfterSeconds * 1000 }),
    ...(field === undefined ? {} : { field: lastPart(field), path: field }),
    ...(requestId === undefined ? {} : { requestId }),
  };
}

/** `input.redirectUris[0]` becomes `redirectUris`. */
function lastPart(field: string): string {
  return (
    field
      .replace(/\[?\.?\d+\]?/g, '')
      .split('.')
      .at(-1) ?? field
  );
}

/** Drops the field name from a message shown below its field: "redirectUris must be https." → "Must be https." */
function sentence(message: string, field: string | undefined): string {
  const text = field !== undefined && message.startsWith(`${field} `) ? message.slice(field.length + 1) : message;
  return serverText(text.charAt(0).toUpperCase() + text.slice(1));
}
