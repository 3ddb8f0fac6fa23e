import type { RequestHandler } from 'express';
import sirv from 'sirv';

/**
 * The files below a folder of the console's build, as they were compressed there (`.br`, `.gz`), with ETags. Looked for
 * at each request: a build may come while the server runs.
 *
 * @param cacheControl `immutable` for files whose name changes with what they hold
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
    // It would answer every method, TRACE too, as if it were GET.
    if (req.method !== 'GET' && req.method !== 'HEAD') return next();
    // It reads ranges wrongly, and breaks off at some. A file comes whole, as a server may send it (RFC 9110 §14.2).
    delete req.headers.range;
    serve(req, res, next);
  };
}
