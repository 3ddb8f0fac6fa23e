/** Import rules of server/ARCHITECTURE.md. A rule's comment is the error message for a violation. */

import { readFileSync } from 'node:fs';

/** Folders of the domain, lowest first, as the table in server/ARCHITECTURE.md lists them: each may import only earlier ones. */
const page = readFileSync(new URL('server/ARCHITECTURE.md', import.meta.url), 'utf8');
const [table = ''] = /^\| layer \|.*\n(?:\|.*\n)+/m.exec(page) ?? [];
export const layers = [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, layer]) => layer);

const protocols = ['oidc', 'saml', 'scim', 'signin', 'connect', 'account', 'portal', 'delegation', 'admin', 'jobs'];
const either = (names) => `(${names.join('|')})`;

const source = '^server/src/';
const domain = `${source}domain/`;
const tests = '\\.test\\.tsx?$|/test/';
/**
 * Composition roots: serve.ts for the server, commands/ for the CLI, instance.ts and compose.ts for both, gen.ts for
 * generated files, openapi.ts for the description of all protocols, test/ for tests.
 */
const composers = `${source}(main|serve|app|gen|instance|compose|openapi)\\.ts$|${source}commands/`;

const layerRules = layers.slice(0, -1).map((layer, index) => ({
  name: `domain-${layer}-downwards`,
  comment:
    `domain/${layer}/ must not import ${layers.slice(index + 1).join(', ')}: imports in domain/ point to lower layers. ` +
    'Move the code up to the layer that needs both, or pass a function.',
  severity: 'error',
  from: { path: `${domain}${layer}/`, pathNot: tests },
  to: { path: `${domain}${either(layers.slice(index + 1))}/` },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    {
      name: 'main-stands-first',
      comment:
        'main → serve → app → protocols → http → domain → kernel: nothing imports main.ts, and only main.ts imports serve.ts.',
      severity: 'error',
      from: { pathNot: `${source}main\\.ts$` },
      to: { path: `${source}(main|serve)\\.ts$` },
    },
    {
      name: 'app-composes',
      comment:
        'main → serve → app → protocols → http → domain → kernel: only serve.ts imports app.ts. Pass dependencies as parameters.',
      severity: 'error',
      from: { pathNot: [composers, tests] },
      to: { path: `${source}app\\.ts$` },
    },
    {
      name: 'protocols-are-mounted-in-app',
      comment: 'main → serve → app → protocols → http → domain → kernel: only app.ts imports protocols.',
      severity: 'error',
      from: { pathNot: [composers, tests, `${source}${either(protocols)}/`] },
      to: { path: `${source}${either(protocols)}/` },
    },
    {
      name: 'protocols-stay-independent',
      comment:
        'Protocols do not import each other. Put shared code into domain/, or into http/ if it is about Express.',
      severity: 'error',
      from: { path: `${source}${either(protocols)}/`, pathNot: tests },
      to: { path: `${source}${either(protocols)}/`, pathNot: `${source}$1/` },
    },
    {
      name: 'http-imports-no-protocol',
      comment: 'http/ is shared by protocols: it may import domain/, but no protocol, adapter or app.ts.',
      severity: 'error',
      from: { path: `${source}http/`, pathNot: tests },
      to: { path: `${source}(${protocols.join('|')}|adapters|migrations)/|${source}app\\.ts$` },
    },
    {
      name: 'domain-knows-no-wire',
      comment: 'domain/ must not import protocols, http/ or adapters. Use a port.',
      severity: 'error',
      from: { path: domain, pathNot: tests },
      to: { path: source, pathNot: domain },
    },
    {
      name: 'domain-reaches-no-server-library',
      comment: 'domain/ must not depend on express, apollo or type-graphql, directly or transitively.',
      severity: 'error',
      from: { path: domain, pathNot: tests },
      to: {
        path: 'node_modules/(express|@apollo|type-graphql|graphql|graphql-scalars)/',
        reachable: true,
      },
    },
    ...layerRules,
    {
      name: 'domain-in-a-layer',
      comment: 'Every folder of domain/ is a layer: add it to the table in server/ARCHITECTURE.md.',
      severity: 'error',
      from: {},
      to: { path: `${domain}[^/]+/`, pathNot: `${domain}${either(layers)}/` },
    },
    {
      name: 'entities-point-to-parents',
      comment:
        'Relations between entities point child → parent only (Device → User → Project): an entity may import its ' +
        'parents, the columns of projects/tenant.ts, declarations, policy and the kernel. Query children instead of inverse collections.',
      severity: 'error',
      from: { path: `${domain}.*\\.entity\\.ts$` },
      to: { path: domain, pathNot: `\\.(entity|resource)\\.ts$|${domain}(kernel/|policy/|projects/tenant\\.ts$)` },
    },
    {
      name: 'declarations-know-no-entities',
      comment: 'A declaration of settings (*.resource.ts) has values and checks; the entity imports it.',
      severity: 'error',
      from: { path: `${domain}.*\\.resource\\.ts$` },
      to: { path: `\\.entity\\.ts$` },
    },
    {
      name: 'nouns-are-leaves',
      comment:
        'A declaration of nouns (*.nouns.ts) has tables and SQL: it imports entities, settings, SQL of tables of users and the kernel, and no services.',
      severity: 'error',
      from: { path: `${domain}.*\\.nouns\\.ts$` },
      to: { path: domain, pathNot: `\\.(entity|resource)\\.ts$|/user-tables\\.ts$|${domain}kernel/` },
    },
    {
      name: 'nouns-are-listed-once',
      comment:
        'Only domain/nouns.ts imports declarations of nouns (*.nouns.ts): take what is derived from all of them.',
      severity: 'error',
      from: { pathNot: `${domain}nouns\\.ts$` },
      to: { path: `${domain}.*\\.nouns\\.ts$` },
    },
    {
      name: 'nouns-are-above-layers',
      comment:
        'domain/nouns.ts imports all layers: only accounts/, webhooks/ and the code outside of domain/ import it.',
      severity: 'error',
      from: {
        path: `${domain}${either(layers.filter((layer) => !['accounts', 'webhooks'].includes(layer)))}/`,
        pathNot: tests,
      },
      to: { path: `${domain}nouns\\.ts$` },
    },
    {
      name: 'adapters-are-chosen-in-app',
      comment: 'Only app.ts, serve.ts and compose.ts import adapters. Take a port of domain/ as a parameter.',
      severity: 'error',
      from: { pathNot: [composers, tests, `${source}adapters/`] },
      to: { path: `${source}adapters/` },
    },
    {
      name: 'adapters-import-no-protocol',
      comment: 'Adapters may import ports of domain/, but no protocols.',
      severity: 'error',
      from: { path: `${source}adapters/`, pathNot: tests },
      to: { path: `${source}${either(protocols)}/` },
    },
    {
      name: 'outside-knows-no-server',
      comment: 'console/ and e2e/ must not import server/; they use its HTTP interfaces.',
      severity: 'error',
      from: { path: '^(console|e2e)/' },
      to: { path: '^server/|^@latchkey/server' },
    },
    {
      name: 'server-stands-alone',
      comment: 'server/ must not import console/ or e2e/, except for the test of the sample MCP server.',
      severity: 'error',
      from: { path: '^server/', pathNot: '^server/test/mcp\\.test\\.ts$' },
      to: { path: '^(console|e2e)/|^@latchkey/(console|e2e)' },
    },
    {
      name: 'shared-stands-alone',
      comment:
        'Packages in shared/ must not import other workspaces, so that each can be published alone; examples declare their own imports. shared/react may import the browser SDK, its peer.',
      severity: 'error',
      from: { path: '^shared/([^/]+)/', pathNot: '^shared/react/' },
      to: { path: '^(server|console|e2e|shared)/|^@latchkey/', pathNot: '^(shared/($1|contracts)/|@latchkey/$1$)' },
    },
    {
      name: 'react-over-browser',
      comment: 'shared/react imports the browser SDK, its peer dependency, and no other workspace.',
      severity: 'error',
      from: { path: '^shared/react/' },
      to: {
        path: '^(server|console|e2e|shared)/|^@latchkey/',
        pathNot: '^(shared/(react|browser)/|@latchkey/browser)',
      },
    },
    {
      name: 'contracts-are-types',
      comment: 'The SDKs import only types of shared/contracts, which are erased: it is not published.',
      severity: 'error',
      from: { path: '^shared/([^/]+)/' },
      to: { path: '^shared/contracts/', pathNot: '^shared/$1/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'declared',
      comment:
        'An import must be declared in the package.json of its own workspace: hoisting hides missing declarations.',
      severity: 'error',
      // The applications of interop run with packages that they install.
      from: {
        path: '^(server/src|shared/[^/]+/src|console|e2e)/',
        pathNot: `${tests}|vite\\.config\\.ts$|^e2e/interop/apps/`,
      },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'], pathNot: '^@latchkey/' },
    },
    {
      name: 'no-circles',
      comment: 'No import cycles, including type imports: move the shared part into a third file.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
  ],
  options: {
    parser: 'swc',
    doNotFollow: { path: 'node_modules|/dist/' },
    exclude: { path: '/dist/|\\.tsbuildinfo$' },
    moduleSystems: ['es6'],
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      extensions: ['.ts', '.tsx', '.js', '.mjs', '.json'],
    },
    progress: { type: 'none' },
  },
};
