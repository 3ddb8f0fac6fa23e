import { refuse } from '../kernel/problem.ts';

const maxLength = 40;
/** A DNS label (RFC 1123 section 2.1), so that it can become part of a host name. */
const syntax = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/;

export function isSlug(text: string): boolean {
  return syntax.test(text);
}

/** The slug as given. Refuses `invalid`. */
export function checkedSlug(slug: string): string {
  if (typeof slug === 'string' && isSlug(slug)) return slug;
  const reason = `must be 1 to ${maxLength} of a-z, 0-9 and hyphens, with no hyphen at either end`;
  return refuse({ code: 'invalid', field: 'slug', reason });
}

/** A slug derived from a project's name; `project` if the name has no ASCII letter or digit. */
export function slugOf(name: string): string {
  const ascii = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const words = ascii
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, maxLength)
    .replace(/^-+|-+$/g, '');
  return words === '' ? 'project' : words;
}

/** The slug with a suffix. */
export function slugWith(slug: string, suffix: string): string {
  return `${slug.slice(0, maxLength - suffix.length - 1).replace(/-+$/, '')}-${suffix}`;
}
