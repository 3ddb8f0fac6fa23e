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
