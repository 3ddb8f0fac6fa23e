import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import express, { type Express, type Request, type Response } from 'express';
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose';
import { z } from 'zod';

export interface McpSettings {
  /** Latchkey's project issuer. */
  issuer: string;
  /** The address of the MCP server: the identifier of the API. */
  resource: string;
  now?: () => Date;
}

/** Scopes of the API, with the texts of the consent page. */
export const scopes = [
  { key: 'notes:read', description: 'Read your notes' },
  { key: 'notes:write', description: 'Add notes' },
];
const scopeOfTools: Record<string, string> = { add_note: 'notes:write' };
/** For everything else, including the list of tools. */
const basicScope = 'notes:read';

/** Sample MCP server: notes of each user, with a tool that needs a second scope. */
export function mcpApp({ issuer, resource, now = () => new Date() }: McpSettings): Express {
  const { origin, pathname } = new URL(resource);
  const metadataPath = `/.well-known/oauth-protected-resource${pathname}`;
  const keys = createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks.json`));
  const notes = new Map<string, string[]>();

  /** The claims of an access token for this server (RFC 9068 section 4); null: not valid. */
  async function verified(req: Request): Promise<JWTPayload | null> {
    const token = /^Bearer (\S+)$/i.exec(req.get('authorization') ?? '')?.[1];
    if (token === undefined) return null;
    const expected = { issuer, audience: resource, typ: 'at+jwt', algorithms: ['ES256'], currentDate: now() };
    return jwtVerify(token, keys, expected).then(
      ({ payload }) => payload,
      () => null,
    );
  }

  /** RFC 6750 section 3, with the metadata that leads the client to the issuer (RFC 9728 section 5.1). */
  function challenge(res: Response, status: 401 | 403, error: string | null, scope: string): void {
    const parameters = `scope="${scope}", resource_metadata="${origin}${metadataPath}"`;
    const named = error === null ? parameters : `error="${error}", ${parameters}`;
    res
      .status(status)
      .set('WWW-Authenticate', `Bearer ${named}`)
      .json(error === null ? {} : { error });
  }

  const app = express();
  app.get(metadataPath, (_req, res) => {
    res.json({
      resource,
      authorization_servers: [issuer],
      scopes_supported: scopes.map(({ key }) => key),
      bearer_methods_supported: ['header'],
      resource_name: 'Sample notes',
    });
  });

  app.post(pathname, express.json(), async (req, res) => {
    const claims = await verified(req);
    // Section 3.1: no error code without a token.
    const isSent = req.get('authorization') !== undefined;
    if (!claims) return challenge(res, 401, isSent ? 'invalid_token' : null, basicScope);
    const granted = String(claims['scope'] ?? '').split(' ');
    const needed = neededBy(req.body);
    // With the scopes that the client has: a client replaces its token by one for these.
    const all = [...new Set([...granted, ...needed])].join(' ');
    if (!needed.every((scope) => granted.includes(scope))) return challenge(res, 403, 'insufficient_scope', all);

    const server = notesServer(notes, String(claims.sub));
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
    res.on('close', () => void server.close());
    await server.connect(transport as Parameters<McpServer['connect']>[0]);
    await transport.handleRequest(req, res, req.body);
  });
  // Each request is answered by itself: there are no sessions, and no stream of the server.
  app.all(pathname, (_req, res) => void res.status(405).set('Allow', 'POST').end());
  return app;
}

/** The scopes that a message, or any of a batch, needs. */
function neededBy(body: unknown): string[] {
  const messages = [body].flat() as { method?: string; params?: { name?: string } }[];
  return messages.map((message) => {
    const tool = message?.method === 'tools/call' ? String(message.params?.name) : '';
    return scopeOfTools[tool] ?? basicScope;
  });
}

function notesServer(notes: Map<string, string[]>, userId: string): McpServer {
  const server = new McpServer({ name: 'sample-notes', version: '1.0.0' });
  const own = () => notes.get(userId) ?? [];
  const text = (content: string) => ({ content: [{ type: 'text' as const, text: content }] });
  server.registerTool('list_notes', { description: 'Lists the notes of the user.' }, () =>
    text(own().join('\n') || 'No notes yet.'),
  );
  const input = { text: z.string().max(200).describe('The note.') };
  server.registerTool('add_note', { description: 'Adds a note.', inputSchema: input }, (added) => {
    notes.set(userId, [...own().slice(-99), added.text]);
    return text('Added.');
  });
  return server;
}
