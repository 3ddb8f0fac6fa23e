import type { Request, RequestHandler } from 'express';
import type { Client } from '../domain/clients/client.entity.ts';
import { clientIdOf } from '../domain/clients/client-id.ts';
import { byClientId, type ClientSource, type KeyHolder } from '../domain/clients/client-registry.ts';
import { isSamlApplication } from '../domain/clients/saml/saml-application.ts';
import type { Issuer } from '../domain/projects/issuer.ts';

/** Finds the issuer that a request addresses, or null. */
export type FindIssuer = (req: Request) => Issuer | Promise<Issuer | null>;

const issuers = new WeakMap<Request, Issuer>();

/** Middleware that stores the issuer of a request for {@link issuerOf}; calls `missing` if there is none. */
export function withIssuer(find: FindIssuer, missing: RequestHandler): RequestHandler {
  return async (req, res, next) => {
    const issuer = await find(req);
    if (!issuer) return missing(req, res, next);
    issuers.set(req, issuer);
    next();
  };
}

export function issuerOf(req: Request): Issuer {
  const issuer = issuers.get(req);
  if (!issuer) throw new Error('withIssuer must come first');
  return issuer;
}

/** The clients of OpenID Connect of an issuer: at a project's issuer, those of the project, also those that introduced themselves. */
export function clientsAt(issuer: Issuer, source: ClientSource): ClientSource {
  const isHere = (client: Client) =>
    issuer.project === null ? client.introducedBy == null : client.project.getEntity().slug === issuer.project.slug;
  const known = (client: Client) => !isSamlApplication(client) && isHere(client);
  const ours = async (finding: Promise<KeyHolder | null>) => {
    const holder = await finding;
    return holder && known(holder.client) ? holder : null;
  };
  return {
    byId: async (clientId) => {
      const client = await byClientId(source, issuer.project?.id, clientId);
      return client && known(client) && clientIdOf(client) === clientId ? client : null;
    },
    byUrl: source.byUrl,
    byKeyHash: (keyHash) => ours(source.byKeyHash(keyHash)),
    bySecretHash: (keyHash) => ours(source.bySecretHash(keyHash)),
  };
}
