interface Profile {
  nameID: string;
  nameIDFormat: string;
  sessionIndex?: string;
  [attribute: string]: unknown;
}

/** Service provider of @node-saml/node-saml. */
export declare class SAML {
  constructor(options: Record<string, unknown>);
  getAuthorizeUrlAsync(relayState: string, host: string | undefined, options: object): Promise<string>;
  getAuthorizeFormAsync(relayState: string, host: string | undefined): Promise<string>;
  getLogoutUrlAsync(user: Profile, relayState: string, options: object): Promise<string>;
  getLogoutResponseUrlAsync(
    request: Profile,
    relayState: string | undefined,
    options: object,
    success: boolean,
  ): Promise<string>;
  validatePostResponseAsync(form: Record<string, string>): Promise<{ profile: Profile | null; loggedOut: boolean }>;
  validateRedirectAsync(
    query: Record<string, unknown>,
    rawQuery: string,
  ): Promise<{ profile: Profile | null; loggedOut: boolean }>;
  generateServiceProviderMetadata(decryptionCert: string | null, signingCert: string | null): string;
}

interface Entity {
  getMetadata(): string;
}
/** A redirect with its query as signed. */
interface ReceivedQuery {
  query: Record<string, string>;
  octetString: string;
}
interface Parsed {
  extract: Record<string, unknown>;
}
interface Service extends Entity {
  createLogoutRequest(
    idp: Entity,
    binding: 'redirect',
    user: { logoutNameID: string; sessionIndex: string | undefined },
  ): { id: string; context: string };
  parseLogoutResponse(idp: Entity, binding: 'redirect', request: ReceivedQuery): Promise<Parsed>;
  parseLogoutRequest(idp: Entity, binding: 'redirect', request: ReceivedQuery): Promise<Parsed>;
  createLogoutResponse(idp: Entity, request: Parsed, binding: 'redirect'): { id: string; context: string };
  createLoginRequest(idp: Entity, binding: 'redirect'): { id: string; context: string };
  parseLoginResponse(idp: Entity, binding: 'post', request: { body: Record<string, string> }): Promise<Parsed>;
}
interface Provider extends Entity {
  createLoginResponse(
    sp: Entity,
    request: object,
    binding: 'post',
    user: object,
    options: { customTagReplacement(template: string): { id: string; context: string } },
  ): Promise<{ context: string }>;
}

export declare const samlify: {
  ServiceProvider(settings: object): Service;
  IdentityProvider(settings: object): Provider;
  SamlLib: { replaceTagsByValue(template: string, values: Record<string, string>): string };
  Constants: { namespace: { binding: { post: string; redirect: string } } };
};
