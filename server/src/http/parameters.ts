import express, { type Request, type RequestHandler } from 'express';
import { isStorableText } from '../domain/kernel/secret.ts';

import { bounded, maxBodyBytes } from './bodies.ts';

const form = 'application/x-www-form-urlencoded';

/** Reads a form body as it was sent (64 KB), for {@link parametersOf}. */
export function formBody(): RequestHandler {
  return bounded(express.text({ type: form, limit: maxBodyBytes }), maxBodyBytes);
}

/** OAuth parameters (RFC 6749 §3.1): each at most once, an empty one counts as absent. */
export interface Parameters {
  get(name: string): string | undefined;
  /** Names that came more than once, or whose value no text column could hold. */
  faults: string[];
  /** True where the body was not the form that a POST must send. */
  wrongContentType: boolean;
}

/** The parameters of a query (GET) or of a form body (POST), never of both. */
export function parametersOf(req: Request): Parameters {
  if (req.method === 'POST') {
    const isForm = typeof req.body === 'string' && req.is(form) !== false;
    return parse(isForm ? (req.body as string) : '', !isForm);
  }
  return parse(queryOf(req), false);
}

/** Longest form that is asked again as a GET; beyond it an address may not get through. */
const longestQuery = 6_000;

/**
 * A form on another site sends no SameSite cookies, so a live session would not be seen: the same request again as a
 * GET, which sends them.
 */
export function cameWithoutCookies(req: Request): boolean {
  if (req.method !== 'POST' || req.get('cookie') !== undefined) return false;
  return typeof req.body === 'string' && req.body !== '' && req.body.length <= longestQuery;
}

/** The query string as it was sent, without `?`. */
export function queryOf(req: Request): string {
  const at = req.originalUrl.indexOf('?');
  return at < 0 ? '' : req.originalUrl.slice(at + 1);
}

function parse(text: string, wrongContentType: boolean): Parameters {
  const values = new Map<string, string>();
  const faults = new Set<string>();
  for (const [name, value] of new URLSearchParams(text)) {
    if (values.has(name) || !isStorableText(value)) faults.add(name);
    if (!values.has(name)) values.set(name, value);
  }
  return { get: (name) => values.get(name) || undefined, faults: [...faults], wrongContentType };
}
