/** Files of the console below a path, as a pattern. */
const admin = (path: string) => new RegExp(`/console/admin/(?:${path})`);

/** Folders of Mantine's components. */
const mantine = (...names: string[]) => `/@mantine/core/esm/components/(?:${names.join('|')})/`;

/** Modules that `first-requests.ts` needs. */
const firstRequests = admin(
  'first-requests|request|settings|(?:frame/frame|overview/overview)-variables|projects/recent|ui/storage|generated/texts/(?:frame|overview)\\.',
);

/** Parts of `ui/` that a few pages use. */
const rareUi =
  'code/snippets|feedback/lazy-dialog|choices|forms/(?:lines|list-(?:field|input)|search-select|whole-number)|layout/(?:menu-button|page-choices|page-frame|tabs)|lists/deliveries|secrets/(?:secret\\.|token-)';

/** Areas whose operations only a few pages send. */
const rareTexts =
  'access|admins|apis|claims|connections|delivery|directories|domains|experience|explorer|introductions|keys|logout|messages|organizations|saml|streams|support';

/**
 * Chunks of the console (decisions/0187). An earlier group goes first, and takes the imports of its modules that have no
 * group yet. All other modules are chunks of their page.
 */
export const chunks = [
  // The only module that hosted pages share with the console.
  { name: 'preload', test: /preload-helper/ },
  // The SDK and what the pages of accounts share: one file compresses better. The QR code is loaded on demand.
  { name: 'hosted', test: /\/console\/signin\/(?:countdown|texts)\.|\/browser\/src\/(?!qr\/)/ },
  // Loaded before each page. Style sheets keep the order of their imports, which decides the order of cascade layers. The first
  // requests are sent before the libraries run.
  {
    name: 'vendor',
    test: new RegExp(`/node_modules/(?!.*\\.css)|${firstRequests.source}`),
    tags: ['$initial' as const],
  },
  {
    name: 'console',
    test: new RegExp(
      `/use-(?:mantine-)?color-scheme/|${admin(`main\\.|generated/texts/(?!${rareTexts})|language/(?:english|language|rich)\\.|frame/use-command|projects/use-project-form|directories/custom-urn|signin/factor-values|ui/(?!${rareUi})`).source}`,
    ),
  },
  // Operations, with what the pages that send them share.
  {
    name: 'organizations',
    test: admin('(?:generated/texts/organizations|organizations/(?:row-button|slug|stale))\\.'),
  },
  { name: 'streams', test: admin('(?:generated/texts/streams|streams/stream-state)\\.') },
  { name: 'saml', test: admin('(?:generated/texts/saml|saml/texts|sessions/saml-parts)\\.') },
  { name: 'attribute-names', test: admin('directories/attribute-names') },
  // The operations of the others.
  {
    debugName: 'operations',
    name: (id: string) => /\/generated\/texts\/(?!claims\.|directories\.)(\w+)\./.exec(id)?.[1] ?? null,
  },
  // Shared by pages of several areas.
  {
    name: 'widgets',
    test: new RegExp(
      `${mantine('Checkbox', 'Fieldset', 'FileButton', 'Pill', 'Radio', 'SimpleGrid', 'Textarea')}|/ui/(?:layout/(?:page-frame|tabs)|forms/(?:lines|list-field))|/create-scoped-keydown-handler|${admin('(?:apis|claims|connect|connections|organizations)/texts\\.').source}`,
    ),
  },
  { name: 'kind-cards', test: admin('ui/choices') },
  { name: 'menu', test: new RegExp(`${mantine('Menu')}|/ui/layout/menu-button`) },
  {
    name: 'select',
    test: new RegExp(`${mantine('Combobox', 'MultiSelect', 'Select')}|/ui/forms/(?:list-input|search-select)`),
  },
  // Chips are on the pages that show secrets, and on those of claims.
  { name: 'secrets', test: new RegExp(`${mantine('Chip')}|${admin('ui/secrets|generated/texts/claims\\.').source}`) },
  { name: 'audit', test: admin('audit/(?:activity|event-list|event-text|sentences)\\.') },
  { name: 'event-types', test: admin('webhooks/(?:webhook-form|event-types)') },
  { name: 'deliveries', test: admin('(?:webhooks/webhook-state|ui/lists/deliveries)') },
  // Large parts of one area.
  { name: 'events', test: admin('audit/(?:events|query-bar|event-chips|event-query)\\.') },
  { name: 'import', test: new RegExp(`${mantine('Progress')}|${admin('users/(?:add/csv|bulk/bulk-run)').source}`) },
  {
    name: 'clients',
    test: new RegExp(
      `${admin('clients/(?:add-address|algorithm-names|create/answers|kind|issuer-advice|redirect|use-client-form)|experience/logo-field').source}|/console/products/address\\.`,
    ),
  },
  { name: 'key-pair', test: admin('clients/keys/(?:pem|key-pair)') },
  { name: 'quickstart', test: admin('clients/(?:quickstart|trial/try)'), minShareCount: 2 },
  // The page of a user has most of the code in grants/.
  {
    name: 'users',
    test: admin('(?:(?:grants|users)/(?!assign-role)|groups/(?:leaving|stale)|ui/feedback/lazy-dialog)'),
    minShareCount: 2,
  },
  {
    name: 'directories',
    test: admin('(?:generated/texts/directories\\.|attributes/texts\\.|directories/(?!attribute-names))'),
    minShareCount: 2,
  },
  // The rest that several pages of an area share: a chunk per folder.
  { debugName: 'area', name: (id: string) => /\/console\/admin\/(\w+)\//.exec(id)?.[1] ?? null, minShareCount: 2 },
];
