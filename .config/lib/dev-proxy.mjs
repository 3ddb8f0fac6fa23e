/**
 * The one address of `npm run dev`. Modules of the console come from Vite, with hot module replacement; everything else
 * comes from the server. Requests during its restart wait.
 */
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { root } from './workspace.mjs';

const ofVite = /^\/(?:@|node_modules\/|admin\/[^?]+\.(?:tsx?|css|svg|json)(?:\?|$)|signin\/[^?]+\.(?:css|svg)(?:\?|$))/;
const RESTART_MS = 30_000;
/** Setup of React's hot reload, which must run first; inline, the content security policy would refuse it. */
const refreshPath = '/@refresh-preamble.js';

/** @param {{ port: number, serverPort: number }} ports @returns {Promise<() => Promise<void>>} closes it */
export async function openProxy({ port, serverPort }) {
  const proxy = createServer((req, res) => {
    if (req.url === refreshPath) return res.setHeader('Content-Type', 'text/javascript').end(refresh);
    if (ofVite.test(req.url)) return vite.middlewares(req, res);
    forward(req, res, serverPort).catch((error) =>
      res.writeHead(502).end(`The server is not running: ${error.message}\n`),
    );
  });
  const { createServer: createVite } = await import('vite');
  const { default: react } = await import('@vitejs/plugin-react');
  const refresh = react.preambleCode.replace('__BASE__', '/');
  const vite = await createVite({
    configFile: join(root, 'console', 'vite.config.ts'),
    appType: 'custom',
    logLevel: 'warn',
    server: { middlewareMode: true, hmr: { server: proxy } },
  });
  await new Promise((resolve, reject) => proxy.once('error', reject).listen(port, resolve));
  return async () => {
    proxy.close();
    proxy.closeAllConnections();
    await vite.close();
  };
}

async function forward(req, res, port) {
  // Read first, so that the request can be sent again if the server has just ended.
  const body = await read(req);
  const answer = await send(req, body, port);
  const isConsole =
    req.url.startsWith('/admin') &&
    answer.statusCode === 200 &&
    answer.headers['content-type']?.startsWith('text/html');
  if (!isConsole) {
    res.writeHead(answer.statusCode, answer.headers);
    return answer.pipe(res);
  }
  const page = (await read(answer)).toString();
  const { 'content-length': _length, ...headers } = answer.headers;
  res.writeHead(200, headers).end(withVite(page, headers['content-security-policy']));
}

async function read(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function send(req, body, port) {
  const deadline = Date.now() + RESTART_MS;
  // A closing server can reset a connection before or after it has read the request.
  const retried = req.method === 'GET' ? ['ECONNREFUSED', 'ECONNRESET'] : ['ECONNREFUSED'];
  for (;;) {
    try {
      return await new Promise((resolve, reject) => {
        const { method, url: path, headers } = req;
        request({ host: '127.0.0.1', port, method, path, headers, agent: false }, resolve)
          .once('error', reject)
          .end(body);
      });
    } catch (error) {
      if (!retried.includes(error.code) || Date.now() > deadline) throw error;
      await pause(50);
    }
  }
}

/** The console's page with its sources in place of its build; Vite marks its style elements with the page's nonce. */
function withVite(page, policy = '') {
  const [, nonce = ''] = /'nonce-([^']+)'/.exec(policy) ?? [];
  const scripts = [refreshPath, '/@vite/client', '/admin/main.tsx'];
  return page
    .replace(/<(?:script|link)\b[^>]*"\/assets\/[^"]+\.(?:js|css)"[^>]*>(?:<\/script>)?/g, '')
    .replace(
      '</head>',
      `<meta property="csp-nonce" nonce="${nonce}">${scripts
        .map((src) => `<script type="module" src="${src}"></script>`)
        .join('')}</head>`,
    );
}
