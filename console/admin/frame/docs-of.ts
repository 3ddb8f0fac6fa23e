/** Pages of the documentation, by the first part of the pages that they describe. */
const docs: Record<string, string> = {
  applications: 'project-issuers',
  apis: 'apis',
  users: 'users',
  groups: 'users',
  organizations: 'organizations',
  connections: 'connections',
  directory: 'directories',
  'enterprise-credentials': 'saml',
  webhooks: 'webhooks',
  settings: 'custom-domains',
  keys: 'rotation',
  system: 'monitoring',
};

/** The documentation of a page of the console. @param path below /admin */
export function docsOf(path: string): string {
  const page = docs[path.replace(/^\/projects\/[^/]+/, '').split('/')[1] ?? ''];
  return page ? `/docs/${page}` : '/docs';
}
