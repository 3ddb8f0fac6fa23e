import type { RequestHandler } from 'express';
import sirv from 'sirv';

/**
 * Serves files of a build, precompressed (`.br`, `.gz`), with ETags. Looks them up on each request, so a build
 * can finish while the server runs.
 *
 * @param headersOf headers by path, with `Cache-Control`: `immutable` for files whose name changes with their content
 */
export function builtFiles(folder: string, headersOf: (path: string) => Record<string, string>): RequestHandler {
  const serve = sirv(folder, {
    dev: true,
    etag: true,
    brotli: true,
    gzip: true,
    setHeaders: (res, path) => {
      for (const [name, value] of Object.entries(headersOf(path))) res.setHeader(name, value);
      // sirv sends an empty Content-Type for unknown extensions.
      if (path.endsWith('.tgz')) res.setHeader('Content-Type', 'application/gzip');
    },
  });
  return (req, res, next) => {
    // sirv treats every method as GET, even TRACE.
    if (req.method !== 'GET' && req.method !== 'HEAD') return next();
    // sirv mishandles some ranges. A server may ignore Range (RFC 9110 §14.2).
    delete req.headers.range;
    serve(req, res, next);
  };
}

/** A year: the name of the file changes with its content. */
export const forEver = 'public, max-age=31536000, immutable';
export const briefly = 'public, max-age=300';
