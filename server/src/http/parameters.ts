import express, { type Request } from 'express';
import { isStorableText } from '../domain/kernel/secret.ts';
import { type Body, bounded, maxBodyBytes } from './bodies.ts';

const form = 'application/x-www-form-urlencoded';

/** A form body as raw text, for {@link parametersOf}. */
export const formBody = formOf(maxBodyBytes);

/** A form with a SAML message of 256 KB in base64. */
export const samlBody = formOf(384 * 1024);

function formOf(maxBytes: number): Body {
  return { maxBytes, read: bounded(express.text({ type: form, limit: maxBytes }), maxBytes) };
}

/** OAuth parameters (RFC 6749 §3.1): each at most once; an empty one is treated as omitted. */
export interface Parameters {
  get(name: string): string | undefined;
  /** Every value of a parameter that may be repeated (RFC 8707 section 2), in order, without duplicates. */
  all(name: string): string[];
  /** Names of parameters that are repeated, or whose value cannot be stored as text in PostgreSQL. */
  faults: string[];
  /** True if the body of a POST is not form-encoded. */
  wrongContentType: boolean;
}

/** Parameters of the query (GET) or of the form body (POST), never both. */
export function parametersOf(req: Request): Parameters {
  if (req.method === 'POST') {
    const isForm = typeof req.body === 'string' && req.is(form) !== false;
    return parse(isForm ? (req.body as string) : '', !isForm);
  }
  return parse(queryOf(req), false);
}

/** Parameters of a form that was stored. */
export function formParameters(text: string): Parameters {
  return parse(text, false);
}

/** Maximum length of a form that is redirected as a GET; longer URLs may be rejected by proxies. */
const longestQuery = 6_000;

/**
 * True for a cross-site form POST, which carries no SameSite cookies, so a live session is not visible. Repeat the request
 * as a GET, which sends them. Cookies of proxies in front may be present: those of bot filters and load balancers are
 * `SameSite=None`.
 */
export function lacksCookies(req: Request): boolean {
  if (req.method !== 'POST' || /(?:^|; ?)(?:__Host-)?lk-/.test(req.get('cookie') ?? '')) return false;
  return typeof req.body === 'string' && req.body !== '' && req.body.length <= longestQuery;
}

/** Raw query string, without `?`. */
export function queryOf(req: Request): string {
  const at = req.originalUrl.indexOf('?');
  return at < 0 ? '' : req.originalUrl.slice(at + 1);
}

function parse(text: string, wrongContentType: boolean): Parameters {
  const values = new Map<string, string>();
  const faults = new Set<string>();
  const given = new URLSearchParams(text);
  for (const [name, value] of given) {
    if (values.has(name) || !isStorableText(value)) faults.add(name);
    if (!values.has(name)) values.set(name, value);
  }
  return {
    get: (name) => values.get(name) || undefined,
    all: (name) => [...new Set(given.getAll(name).filter(Boolean))],
    faults: [...faults],
    wrongContentType,
  };
}
