/**
 * Who may import whom: the rules of server/ARCHITECTURE.md as a gate. The comment of a rule is the sentence that
 * whoever breaks it reads.
 */

/** The nouns of the domain, lowest first: each may import only what stands before it. */
export const ladder = [
  'kernel',
  'projects',
  'audit',
  'limits',
  'keys',
  'sms',
  'delivery',
  'experience',
  'clients',
  'users',
  'devices',
  'otp',
  'mfa',
  'phones',
  'sessions',
  'tokens',
  'ceremonies',
  'delegation',
  'logout',
  'directories',
  'admins',
  'accounts',
  'instance',
];

const rooms = ['oidc', 'scim', 'signin', 'account', 'delegation', 'admin', 'jobs'];
const either = (names) => `(${names.join('|')})`;

const source = '^server/src/';
const domain = `${source}domain/`;
const tests = '\\.test\\.tsx?$|/test/';
/**
 * They put the parts together: main.ts for the server, commands/ for the shell, instance.ts for both, gen.ts for the
 * generated files, test/ for the tests.
 */
const composers = `${source}(main|app|gen|instance)\\.ts$|${source}commands/`;

const rungs = ladder.slice(0, -1).map((rung, index) => ({
  name: `domain-${rung}-downwards`,
  comment:
    `Within domain/ only downwards: ${rung}/ stands below ${ladder.slice(index + 1).join(', ')}, and knows nothing of them. ` +
    'Move the code up to the rung that needs both, or hand it a function.',
  severity: 'error',
  from: { path: `${domain}${rung}/`, pathNot: tests },
  to: { path: `${domain}${either(ladder.slice(index + 1))}/` },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    {
      name: 'main-stands-first',
      comment: 'main → app → rooms → http → domain → kernel: nothing imports main.ts.',
      severity: 'error',
      from: {},
      to: { path: `${source}main\\.ts$` },
    },
    {
      name: 'app-composes',
      comment:
        'main → app → rooms → http → domain → kernel: only main.ts imports app.ts. What is needed from it, it hands in.',
      severity: 'error',
      from: { pathNot: [composers, tests] },
      to: { path: `${source}app\\.ts$` },
    },
    {
      name: 'rooms-are-mounted-in-app',
      comment:
        'main → app → rooms → http → domain → kernel: a room is mounted by app.ts, and imported by nothing else.',
      severity: 'error',
      from: { pathNot: [composers, tests, `${source}${either(rooms)}/`] },
      to: { path: `${source}${either(rooms)}/` },
    },
    {
      name: 'rooms-keep-apart',
      comment: 'Rooms do not import each other. What two rooms need is domain (or, if it is Express mechanics, http/).',
      severity: 'error',
      from: { path: `${source}${either(rooms)}/`, pathNot: tests },
      to: { path: `${source}${either(rooms)}/`, pathNot: `${source}$1/` },
    },
    {
      name: 'http-knows-no-room',
      comment:
        'http/ is the mechanics that rooms share: it imports domain/, and neither rooms nor adapters nor app.ts.',
      severity: 'error',
      from: { path: `${source}http/`, pathNot: tests },
      to: { path: `${source}(${rooms.join('|')}|adapters|migrations)/|${source}app\\.ts$` },
    },
    {
      name: 'domain-knows-no-wire',
      comment: 'domain/ imports no room, no http/, no adapter: it is the product, and knows no wire. Ask for a port.',
      severity: 'error',
      from: { path: domain, pathNot: tests },
      to: { path: source, pathNot: domain },
    },
    {
      name: 'domain-reaches-no-server-library',
      comment: 'domain/ reaches neither express, apollo nor type-graphql, also not by way of another file.',
      severity: 'error',
      from: { path: domain, pathNot: tests },
      to: {
        path: 'node_modules/(express|@apollo|@as-integrations|type-graphql|graphql|graphql-scalars)/',
        reachable: true,
      },
    },
    ...rungs,
    {
      name: 'domain-on-the-ladder',
      comment:
        'Each noun of domain/ stands on a rung: put its folder into the ladder in .config/dependency-cruiser.mjs.',
      severity: 'error',
      from: {},
      to: { path: `${domain}[^/]+/`, pathNot: `${domain}${either(ladder)}/` },
    },
    {
      name: 'entities-point-to-parents',
      comment:
        'Relations between entities point child → parent only (Device → User → Project): an entity imports the entities ' +
        'it belongs to and the kernel. Children are queried, never held as inverse collections.',
      severity: 'error',
      from: { path: `${domain}.*\\.entity\\.ts$` },
      to: { path: domain, pathNot: `\\.entity\\.ts$|${domain}kernel/` },
    },
    {
      name: 'adapters-are-chosen-in-app',
      comment:
        'Adapters are chosen in app.ts alone (and opened in main.ts): ask for a port of domain/ and be given one.',
      severity: 'error',
      from: { pathNot: [composers, tests, `${source}adapters/`] },
      to: { path: `${source}adapters/` },
    },
    {
      name: 'adapters-know-no-room',
      comment: 'Adapters stand beside the rooms: they import the ports of domain/, and no room.',
      severity: 'error',
      from: { path: `${source}adapters/`, pathNot: tests },
      to: { path: `${source}${either(rooms)}/` },
    },
    {
      name: 'outside-knows-no-server',
      comment: 'console/ and e2e/ import nothing of server/: they meet it on the wire.',
      severity: 'error',
      from: { path: '^(console|e2e)/' },
      to: { path: '^server/|^@latchkey/server' },
    },
    {
      name: 'server-stands-alone',
      comment: 'server/ imports nothing of console/ and e2e/: it serves what they build, and no more.',
      severity: 'error',
      from: { path: '^server/' },
      to: { path: '^(console|e2e)/|^@latchkey/(console|e2e)' },
    },
    {
      name: 'shared-stands-alone',
      comment: 'shared/* imports nothing of the others: each of its packages can be published by itself.',
      severity: 'error',
      from: { path: '^shared/([^/]+)/' },
      to: { path: '^(server|console|e2e|shared)/|^@latchkey/', pathNot: '^shared/$1/' },
    },
    {
      name: 'declared',
      comment: 'An import must be declared in the package.json of its own workspace: hoisting hides that it is not.',
      severity: 'error',
      from: { path: '^(server/src|shared/[^/]+/src|console|e2e)/', pathNot: `${tests}|vite\\.config\\.ts$` },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'], pathNot: '^@latchkey/' },
    },
    {
      name: 'no-circles',
      comment:
        'No circles, type imports included: of two files that need each other, one holds what belongs to a third.',
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
