import { once } from 'node:events';
import type { Request, Response } from 'express';
import type { AnswerText } from './text.ts';

/** Length of a chunk, in characters. */
export const chunkLength = 64 * 1024;

interface Streaming {
  text: AnswerText;
  /** Whether the client has taken too long for the whole. */
  isLate(): boolean;
  limits: { stallMs: number };
}

/**
 * Writes a body of unknown length as fast as the client reads it. Returns how it ended: `stalled` if the client read
 * nothing for too long, or needed too long for the whole, and was disconnected; `left` if it disconnected.
 */
export async function streamed(
  req: Request,
  res: Response,
  first: string,
  next: () => Promise<string>,
  { text, isLate, limits }: Streaming,
): Promise<'sent' | 'stalled' | 'left'> {
  res.setHeader('Content-Type', 'application/scim+json');
  if (req.method === 'HEAD') {
    res.end();
    return 'sent';
  }
  let isStalled = false;
  const cut = () => {
    isStalled = true;
    res.destroy();
  };
  res.on('timeout', cut);
  for (let chunk = first; ; chunk = await next()) {
    if (isLate()) cut();
    if (res.destroyed) return isStalled ? 'stalled' : 'left';
    if (!res.write(chunk)) await drained(res, limits.stallMs);
    if (res.destroyed) return isStalled ? 'stalled' : 'left';
    if (text.isEnded) break;
  }
  res.setTimeout(limits.stallMs);
  res.end();
  return 'sent';
}

/** Resolves when more can be written, or the connection is closed. A socket without progress times out. */
async function drained(res: Response, stallMs: number): Promise<void> {
  res.setTimeout(stallMs);
  const stop = new AbortController();
  const { signal } = stop;
  await Promise.race([once(res, 'drain', { signal }), once(res, 'close', { signal })]).finally(() => stop.abort());
  res.setTimeout(0);
}
