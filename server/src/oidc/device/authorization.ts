import type { RequestHandler } from 'express';
import type { ClientRegistry } from '../../domain/clients/client-registry.ts';
import { Refusal } from '../../domain/kernel/problem.ts';
import {
  type DeviceAuthorizations,
  type DeviceCodes,
  deviceTtlSeconds,
  pollSeconds,
} from '../../domain/tokens/device/device-authorizations.ts';
import { grantedScope } from '../../domain/tokens/scope.ts';
import { requestContext } from '../../http/context.ts';
import { issuerOf } from '../../http/issuer.ts';
import { scopesFor } from '../authorization-request.ts';
import { authenticateClient, type ClientAuthDeps } from '../client-auth.ts';
import { formOf } from '../client-credential.ts';
import { refuseResource, requireGrant } from '../grants/grant.ts';
import { OAuthError } from '../oauth-error.ts';
import { namedOrganization, type OrganizationNames } from '../organization.ts';

export interface DeviceAuthorizationDeps extends ClientAuthDeps, OrganizationNames {
  clients: Pick<ClientRegistry, 'current'>;
  deviceAuthorizations: Pick<DeviceAuthorizations, 'begin'>;
}

/** `POST {issuer}/oauth2/device_authorization` (RFC 8628 §3.1 and §3.2): a device asks for a code to show. */
export function deviceAuthorizationEndpoint(deps: DeviceAuthorizationDeps): RequestHandler {
  return async (req, res) => {
    const parameters = formOf(req);
    const issuer = issuerOf(req);
    const { by: _, ...caller } = await authenticateClient(deps, req, parameters, deps.clients.current);
    requireGrant(caller.client, 'device_code');
    refuseResource(parameters);
    const asked = parameters.get('scope') ?? 'openid';
    if (asked.length > longest) throw new OAuthError('invalid_scope', 'scope is longer than 2,048 characters.');
    const scope = grantedScope(asked, scopesFor(caller.client, issuer));
    if (!scope.split(' ').includes('openid')) throw new OAuthError('invalid_scope', 'scope must include openid.');
    const organizationId = (await namedOrganization(deps, parameters, caller.client, issuer)) ?? null;
    const { ip } = requestContext(req);
    const codes = await deps.deviceAuthorizations.begin({ ...caller, issuer, scope, organizationId, ip });
    if (!codes) throw new Refusal({ code: 'client-rejected', reason: 'the client changed during the request' });
    res.json(answerOf(codes, `${issuer.url}/device`));
  };
}

const longest = 2048;

function answerOf({ deviceCode, userCode }: DeviceCodes, page: string) {
  return {
    device_code: deviceCode,
    user_code: userCode,
    verification_uri: page,
    verification_uri_complete: `${page}?${new URLSearchParams({ user_code: userCode })}`,
    expires_in: deviceTtlSeconds,
    interval: pollSeconds,
  };
}
