import type { RequestHandler } from 'express';
import { badRequest } from './scim-error.ts';

/**
 * The URL as Express can match it: with `%25` for each `%` of a path that it cannot decode, which {@link checkPath} refuses
 * after authentication.
 */
export function matchable(url: string): string {
  const [path = '', ...query] = url.split(/(?=\?)/);
  return [isDecodable(path) ? path : path.replaceAll('%', '%25'), ...query].join('');
}

/** Refuses a path that cannot be decoded. */
export const checkPath: RequestHandler = (req, _res, next) => {
  const [path = ''] = req.originalUrl.split('?');
  if (!isDecodable(path)) throw badRequest('invalidSyntax', 'The path cannot be decoded.');
  next();
};

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/** The URL with single slashes in its path: a base address that ends with a slash yields paths such as `//Users`. */
export function singleSlashes(url: string): string {
  const [path = '', ...query] = url.split(/(?=\?)/);
  return [path.replace(/\/{2,}/g, '/'), ...query].join('');
}
