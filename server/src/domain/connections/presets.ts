import { invalid } from '../kernel/problem.ts';
import type { RequestedNameId } from './connection.entity.ts';

/** Fixed and default settings. The steps at each provider are in `server/docs/connections.md`. */
export interface Preset {
  /** Fixed; absent: the admin gives it. */
  issuer?: string;
  /** The reason why an issuer does not fit the preset. */
  issuerFault?(issuer: string): string | null;
  scopes: readonly string[];
  /**
   * Whether `email_verified` of this provider is trusted. False: the user proves the address here by a code. Entra lets each tenant
   * set the address of its users freely (CVE class nOAuth).
   */
  vouchesForEmail: boolean;
  /** Whether anyone can have an account there, also with the address of a company that they have left. */
  isOpen?: boolean;
  /** SAML: the NameID to ask for. Default: persistent. */
  nameId?: RequestedNameId;
}

const scopes = ['openid', 'email', 'profile'];
const own = { scopes, vouchesForEmail: true } as const;
const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';

/** An issuer in the form of one provider. */
const ofForm = (form: RegExp, example: string) => ({
  ...own,
  issuerFault: (issuer: string) => (form.test(issuer) ? null : `must have the form ${example}`),
});

/** By name. Providers that deviate from OpenID Connect have no preset yet. */
const presets = {
  generic: own,
  google: { ...own, issuer: 'https://accounts.google.com', isOpen: true },
  /** One tenant: `iss` contains its id, so that no other tenant is accepted. */
  entra: {
    ...ofForm(
      new RegExp(`^https://login\\.microsoftonline\\.com/${uuid}/v2\\.0$`),
      'https://login.microsoftonline.com/<tenant id>/v2.0',
    ),
    vouchesForEmail: false,
  },
  /** Personal Microsoft accounts: their tenant is fixed. */
  microsoft: {
    ...own,
    issuer: 'https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0',
    vouchesForEmail: false,
    isOpen: true,
  },
  gitlab: { ...own, issuer: 'https://gitlab.com', isOpen: true },
  okta: ofForm(/^https:\/\/[a-z0-9.-]+(\/oauth2\/[A-Za-z0-9]+)?$/, 'https://<domain>.okta.com'),
  auth0: ofForm(/^https:\/\/[a-z0-9.-]+\/$/, 'https://<tenant>.auth0.com/ (with the slash)'),
  keycloak: ofForm(/^https?:\/\/[^/]+(\/[^/]+)*\/realms\/[^/]+$/, 'https://<host>/realms/<realm>'),
  onelogin: ofForm(/^https:\/\/[a-z0-9.-]+\/oidc\/2$/, 'https://<subdomain>.onelogin.com/oidc/2'),
  jumpcloud: { ...own, issuer: 'https://oauth.id.jumpcloud.com/' },
  /** AD FS: each installation has a host of its own. */
  adfs: { ...ofForm(/^https:\/\/[^/?]+\/adfs$/, 'https://<host>/adfs'), vouchesForEmail: false, nameId: 'any' },
  pingone: ofForm(
    new RegExp(`^https://auth\\.pingone\\.[a-z.]+/${uuid}/as$`),
    'https://auth.pingone.com/<environment id>/as',
  ),
} as const satisfies Record<string, Preset>;

const presetNames = Object.keys(presets) as (keyof typeof presets)[];

/** Whether anyone can have an account at this issuer. */
export function isOpen(issuer: string): boolean {
  return Object.values<Preset>(presets).some((preset) => preset.isOpen === true && preset.issuer === issuer);
}

/** Refuses `invalid`. */
export function presetOf(name: string): Preset {
  return Object.hasOwn(presets, name)
    ? presets[name as keyof typeof presets]
    : invalid('preset', `must be one of ${presetNames.join(', ')}`);
}
