import { refuse } from '../kernel/problem.ts';

const slugPattern = /^[a-z0-9][a-z0-9-]{0,62}$/;
const uuidLike = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** `organization` of a request is a slug or an id, so no slug looks like an id. */
export function checkedSlug(slug: string, field: string): string {
  if (slugPattern.test(slug) && !uuidLike.test(slug)) return slug;
  return refuse({
    code: 'invalid',
    field,
    reason: 'must have 1 to 63 lower-case letters, digits and hyphens, begin with a letter or digit, and be no UUID',
  });
}

/** Bytes of `metadata` as JSON. */
const maxMetadata = 4096;

/** Refuses `invalid` unless it is a JSON object of at most {@link maxMetadata} bytes. */
export function checkedMetadata(value: unknown): Record<string, unknown> {
  const field = 'metadata';
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    refuse({ code: 'invalid', field, reason: 'must be a JSON object' });
  }
  const text = JSON.stringify(value);
  if (Buffer.byteLength(text) > maxMetadata) {
    refuse({ code: 'invalid', field, reason: `must have at most ${maxMetadata} bytes as JSON` });
  }
  // PostgreSQL stores neither U+0000 nor half of a surrogate pair, which JSON escapes.
  if (/(?<!\\)(\\\\)*\\u(0000|d[89a-f])/.test(text)) {
    refuse({ code: 'invalid', field, reason: 'must contain no character that cannot be stored' });
  }
  return value as Record<string, unknown>;
}
