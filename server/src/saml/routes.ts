/**
 * SAML 2.0 identity provider, at the issuers of projects (decisions/0390): metadata, Web Browser SSO and Single Logout. Owns the
 * bindings. Not here: the messages (`domain/saml`), sign-in (`signin/`), the content of assertions (`domain/tokens`).
 */
import type { RequestHandler } from 'express';
import type { SamlKeys } from '../domain/keys/saml-keys.ts';
import { idpMetadata } from '../domain/saml/messages/metadata.ts';
import { entityIdOf } from '../domain/tokens/saml/saml-answers.ts';
import { issuerOf } from '../http/issuer.ts';
import { samlBody } from '../http/parameters.ts';
import { noStore, type Route } from '../http/routes/route.ts';
import { logoutEndEndpoint, type SingleLogoutDeps } from './single-logout.ts';
import { type SloDeps, sloEndpoint } from './slo.ts';
import { resumeEndpoint, type SsoDeps, ssoEndpoint, startEndpoint } from './sso.ts';

export interface SamlDeps {
  sso: SsoDeps;
  slo: SloDeps;
  singleLogout: SingleLogoutDeps;
  samlKeys: Pick<SamlKeys, 'published'>;
}

const offered = { at: (req: Parameters<RequestHandler>[0]) => issuerOf(req).capabilities.saml };
/** GET has effects. */
const page = { headers: noStore, head: 'refused', offered } as const;

export const samlRoutes: readonly Route<SamlDeps>[] = [
  { path: '/saml/metadata', methods: { GET: { handler: sendMetadata, openApi: 'page' } }, offered },
  {
    path: '/saml/sso',
    methods: {
      GET: { handler: ({ sso }) => ssoEndpoint(sso), openApi: 'page' },
      POST: { body: samlBody, handler: ({ sso }) => ssoEndpoint(sso), openApi: 'page' },
    },
    ...page,
    service: 'sign_in',
  },
  {
    path: '/saml/resume',
    methods: { GET: { handler: ({ sso }) => resumeEndpoint(sso), openApi: 'page' } },
    ...page,
    service: 'sign_in',
  },
  {
    path: '/saml/start/:client',
    methods: { GET: { handler: ({ sso }) => startEndpoint(sso), openApi: 'page' } },
    ...page,
  },
  {
    path: '/saml/slo',
    methods: {
      GET: { handler: ({ slo }) => sloEndpoint(slo), openApi: 'page' },
      POST: { body: samlBody, handler: ({ slo }) => sloEndpoint(slo), openApi: 'page' },
    },
    ...page,
  },
  {
    path: '/saml/logout',
    methods: { GET: { handler: ({ singleLogout }) => logoutEndEndpoint(singleLogout), openApi: 'page' } },
    ...page,
  },
];

function sendMetadata({ samlKeys }: SamlDeps): RequestHandler {
  return async (req, res) => {
    const issuer = issuerOf(req);
    const keys = await samlKeys.published(issuer.project?.id ?? '');
    const endpoints = {
      entityId: entityIdOf(issuer),
      ssoUrl: `${issuer.url}/saml/sso`,
      sloUrl: `${issuer.url}/saml/slo`,
    };
    res.setHeader('Cache-Control', 'public, max-age=300');
    res.type('application/samlmetadata+xml').send(
      idpMetadata(
        endpoints,
        keys.map(({ certificate }) => certificate),
      ).xml,
    );
  };
}
