import type { CombinedError } from '@urql/core';

/** A failed request, with a message for display. */
export interface Failure {
  /** `extensions.code` of the admin API; `network` without a response. */
  code: string;
  message: string;
  /** The input field that failed validation. */
  field?: string;
  requestId?: string;
}

interface Extensions {
  code?: string;
  field?: string;
  reason?: string;
  requestId?: string;
  retryAfterSeconds?: number;
}

export function failureOf(error: CombinedError): Failure {
  const [first] = error.graphQLErrors;
  if (!first) {
    return { code: 'network', message: 'The server did not answer. Check the connection and try again.' };
  }
  const { code = 'unknown', field, requestId, retryAfterSeconds } = first.extensions as Extensions;
  const wait = retryAfterSeconds === undefined ? '' : ` Try again in ${retryAfterSeconds} s.`;
  const name = field === undefined ? undefined : lastPart(field);
  return {
    code,
    message: sentence(first.message, field) + wait,
    ...(name === undefined ? {} : { field: name }),
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
  return text.charAt(0).toUpperCase() + text.slice(1);
}
