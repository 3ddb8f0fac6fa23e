/** Pages of the documentation by the pages of a project that they describe, most specific first. */
const projectDocs: readonly (readonly [page: RegExp, docs: string])[] = [
  [/^applications\/new/, 'products'],
  [/^applications\/[^/]+\/access/, 'access'],
  [/^applications\/[^/]+\/(?:roles|claims)/, 'claims'],
  [/^applications\/[^/]+\/apis/, 'apis'],
  [/^applications\/[^/]+\/keys/, 'rotation'],
  [/^applications\/[^/]+\/tokens/, 'logout'],
  [/^applications/, 'project-issuers'],
  [/^apis/, 'apis'],
  [/^(?:users|groups)/, 'users'],
  [/^directory/, 'directories'],
  [/^(?:factors|session-policy)/, 'passkeys'],
  [/^webhooks/, 'webhooks'],
  [/^(?:log-streams|events)/, 'log-streams'],
  [/^logout-deliveries/, 'logout'],
  [/^(?:troubleshooting|messages)/, 'incidents'],
  [/^(?:settings|experience)/, 'custom-domains'],
];

/** Of the instance. */
const instanceDocs: readonly (readonly [page: RegExp, docs: string])[] = [
  [/^explorer/, 'http-api'],
  [/^keys/, 'rotation'],
  [/^(?:audit|log-streams)/, 'log-streams'],
  [/^system/, 'monitoring'],
];

/** The documentation of a page of the console. @param path below /admin */
export function docsOf(path: string): string {
  const inProject = /^\/projects\/[^/]+\/(.+)/.exec(path)?.[1];
  const [list, page] = inProject === undefined ? [instanceDocs, path.slice(1)] : [projectDocs, inProject];
  const docs = list.find(([pattern]) => pattern.test(page))?.[1];
  return docs === undefined ? '/docs' : `/docs/${docs}`;
}
