import { createHash, randomBytes } from 'node:crypto';
import type { TestBackEnd } from '../../back-end.ts';
import { type DeviceKey, signJws } from '../../signin-browser.ts';
import type { Change } from '../changes.ts';
import type { ProjectModel } from '../model.ts';
import type { Reply } from '../wire.ts';
import type { World } from '../world.ts';
import type { Dice, Party, Values } from './party.ts';

/** A request before it is sent. */
export interface Draft {
  method: 'GET' | 'POST';
  path: string;
  /** `page`: a form of a page, with its origin. `sealed`: the encrypted request of a back end. */
  as: 'query' | 'form' | 'page' | 'json' | 'sealed';
  /** The kind of value of each parameter, with the right one. Names that begin with `@` are sent in headers. */
  fields: Record<string, [kind: string, right: string | undefined]>;
  /** The parameter that deviations change most often: the only one that names a user or a client in addition to another value. */
  aim?: string | undefined;
  headers?: (sent: Record<string, string>) => Record<string, string>;
  /** Learns from an accepted reply. Returns the next honest action. */
  learn: (by: Party, reply: Reply, sent: Record<string, string>) => string | undefined;
}
/** A request that a party's browser sent, with its reply and the rows that it changed. */
export interface Done {
  party: Party;
  name: string;
  /** Whether it was sent by the form of a page. */
  isForm: boolean;
  fields: Record<string, string>;
  reply: Reply;
  changes: readonly Change[];
}

export type Action = (party: Party, dice: Dice) => Draft | Promise<Draft>;

export interface MixedClient {
  id: string;
  redirect: string;
  logoutUri: string;
  isThirdParty: boolean;
  isDpopBound: boolean;
}

/** The project of the parties, and the values that they have seen there. */
export interface Site {
  world: World;
  project: { id: string; slug: string; scimToken: string };
  /** The project of the admins. */
  console: ProjectModel;
  clients: readonly MixedClient[];
  /** Back ends with keys for the delegation, by client: two of the project, and one of another project. */
  backEnds: Map<string, TestBackEnd>;
  /** The last request of each back end that it sent with its key, encrypted; the newest one last. */
  sealed: Map<string, string>;
  values: Values;
  /** Keys by thumbprint. */
  keys: Map<string, DeviceKey>;
  keep(party: Party, some: Record<string, unknown>, belongs?: Record<string, string | undefined>): void;
  /** Reads a page as the party. */
  page(party: Party, path: string): Promise<string>;
}

export function clientOf({ clients }: Site, id: string | undefined): MixedClient | undefined {
  return clients.find((one) => one.id === id);
}

/** Whether the back end is one of the project. */
export function isOwn({ backEnds, project }: Site, id: string | undefined): boolean {
  return backEnds.get(id ?? '')?.client.project.id === project.id;
}

/** The value of a hidden field of a page. */
export function hidden(html: string, name: string): string | undefined {
  return new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1];
}

/** Reads the page of a form, and keeps its CSRF token. */
export async function csrfOf(site: Site, party: Party, path: string, belongs: Record<string, string | undefined> = {}) {
  const csrf = hidden(await site.page(party, path), 'csrf');
  site.keep(party, { csrf }, { session: party.session, ...belongs });
  return csrf;
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

/** Headers of a request whose fields name a DPoP key, with an access token or without. */
export function dpopHeaders({ keys, world }: Site, { method, path }: Pick<Draft, 'method' | 'path'>) {
  return ({ '@dpop': jkt, '@access': token }: Record<string, string>): Record<string, string> => {
    const key = keys.get(jkt ?? '');
    const caller: Record<string, string> =
      token === undefined ? {} : { Authorization: `${jkt === undefined ? 'Bearer' : 'DPoP'} ${token}` };
    if (!key) return caller;
    const claims = {
      ...{ htm: method, htu: `${world.issuer}${path}`, iat: Math.floor(world.now() / 1000) },
      ...{ jti: randomBytes(16).toString('base64url'), ...(token !== undefined && { ath: sha256(token) }) },
    };
    return { ...caller, DPoP: signJws({ typ: 'dpop+jwt', alg: 'ES256', jwk: key.jwk }, claims, key) };
  };
}
