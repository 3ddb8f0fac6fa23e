/**
 * `npm run sample:mcp`: an MCP server with its own Latchkey, on http://localhost:4000/mcp. Starts the server on the embedded
 * database, and lets MCP clients introduce themselves to the demo project.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { origin, ownLatchkey, port } from '../sample/own-latchkey.ts';
import { demoProject } from '../sample/relying-party.ts';
import { mcpApp } from './app.ts';
import { setUpMcp } from './setup.ts';

const { admin } = await ownLatchkey();
const resource = `${origin}/mcp`;
const issuer = await setUpMcp(admin, await demoProject(admin), resource);
const sample = createServer(mcpApp({ issuer, resource })).listen(Number(port), 'localhost');
await once(sample, 'listening');
console.log(
  `\nThe sample MCP server is at ${resource}: add this address to an MCP client, which opens a browser to sign in.`,
);
console.log('Codes are in the dev mailbox: open the setup link above.');
