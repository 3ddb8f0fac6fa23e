import { SamlError } from '../saml-error.ts';

const pattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z$/;

/** SAML Core section 1.3.3: UTC. */
export function instantOf(value: string | undefined, what: string): Date {
  const at = value !== undefined && pattern.test(value) ? new Date(value.replace(/\.(\d{3})\d*Z$/, '.$1Z')) : undefined;
  if (!at || Number.isNaN(at.getTime())) throw new SamlError('malformed', what);
  return at;
}

export function written(at: Date): string {
  return at.toISOString().replace(/\.\d{3}Z$/, 'Z');
}

export function later(at: Date, seconds: number): Date {
  return new Date(at.getTime() + seconds * 1000);
}
