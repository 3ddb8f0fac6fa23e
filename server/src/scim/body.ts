import type { Request } from 'express';
import { parseBody } from './json.ts';
import { badRequest, ScimError } from './scim-error.ts';

/** Maximum body size of a request other than Bulk, in bytes (decisions 10). */
export const maxBodyBytes = 1024 * 1024;

const mediaTypes = ['application/scim+json', 'application/json'];

/**
 * Reads a JSON object sent as `application/scim+json`, `application/json` or without a type.
 * Throws 413 beyond `maxBytes`, 415, `invalidSyntax`.
 */
export async function readBody(req: Request, maxBytes = maxBodyBytes): Promise<Record<string, unknown>> {
  checkType(req);
  return parseBody(await readBytes(req, maxBytes));
}

export function checkType(req: Request): void {
  const [type = '', ...parameters] = (req.get('content-type') ?? '')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  if (type !== '' && !mediaTypes.includes(type)) {
    throw new ScimError(415, `Send the body as ${mediaTypes.join(' or ')}.`);
  }
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  if (charset !== undefined && charset.replaceAll('"', '') !== 'utf-8' && charset !== 'utf8') {
    throw new ScimError(415, 'Send the body in UTF-8.');
  }
  const encoding = (req.get('content-encoding') ?? 'identity').toLowerCase();
  if (encoding !== 'identity') throw new ScimError(415, 'Send the body without a content encoding.');
}

function readBytes(req: Request, maxBytes: number): Promise<Uint8Array> {
  if (Number(req.get('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    let isWhole = false;
    const giveUp = () => {
      if (!isWhole) reject(badRequest('invalidSyntax', 'The body is incomplete.'));
    };
    if (req.destroyed) return giveUp();
    // Iterating over the request would destroy it afterwards, and with it the response.
    req.on('data', (chunk: Buffer) => {
      length += chunk.length;
      // The rest is read and dropped: a connection that closes with unread data is reset, and the client loses the response.
      if (length <= maxBytes) chunks.push(chunk);
      else reject(tooLarge(maxBytes));
    });
    req.on('end', () => {
      isWhole = true;
      resolve(Buffer.concat(chunks));
    });
    req.on('error', giveUp);
    req.on('close', giveUp);
  });
}

/** Closes the connection after the response: the body may be endless. */
export function tooLarge(maxBytes: number): ScimError {
  return new ScimError(413, `The body is larger than ${maxBytes} bytes.`, { headers: { Connection: 'close' } });
}
