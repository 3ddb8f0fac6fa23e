import type { RequestHandler } from 'express';
import sirv from 'sirv';

/**
 * Serves files of the console build, precompressed (`.br`, `.gz`), with ETags. Looks them up on each request, so a build
 * can finish while the server runs.
 *
 * @param cacheControl `immutable` for files with a content hash in their name
 */
export function builtFiles(folder: string, cacheControl: string): RequestHandler {
  const serve = sirv(folder, {
    dev: true,
    etag: true,
    brotli: true,
    gzip: true,
    setHeaders: (res) => void res.setHeader('Cache-Control', cacheControl),
  });
  return (req, res, next) => {
    // sirv treats every method as GET, even TRACE.
    if (req.method !== 'GET' && req.method !== 'HEAD') return next();
    // sirv mishandles some ranges. A server may ignore Range (RFC 9110 §14.2).
    delete req.headers.range;
    serve(req, res, next);
  };
}
