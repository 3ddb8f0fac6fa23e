import { refuse } from '../../kernel/problem.ts';
import { checkRedirectUri } from '../redirect-uri.ts';

/** An authorization server for which a client gets identity assertions. */
export interface CrossAppAccess {
  /** Its issuer, compared exactly. */
  audience: string;
  /** `client_id` of the client there. */
  clientId: string;
  /** At most these; none: no assertion names a scope. */
  scopes: string[];
  /** Identifiers of APIs there, at most these; none: no assertion names one. */
  resources: string[];
}

const maxServers = 50;
const maxEntries = 100;
const maxText = 500;
const names = ['audience', 'clientId', 'scopes', 'resources'];

/** As stored, by audience. Refuses `invalid`. */
export function checkedCrossAppAccess(given: unknown, field: string): CrossAppAccess[] {
  if (!Array.isArray(given) || given.length > maxServers) {
    return refuse({ code: 'invalid', field, reason: `must be a list of at most ${maxServers} entries` });
  }
  const servers = given.map((server: unknown, at) => checkedServer(server, `${field}[${at}]`));
  const twice = servers.findIndex(({ audience }, at) => servers.findIndex((one) => one.audience === audience) !== at);
  if (twice >= 0) refuse({ code: 'invalid', field: `${field}[${twice}].audience`, reason: 'is in the list twice' });
  return servers.sort((a, b) => (a.audience < b.audience ? -1 : 1));
}

function checkedServer(given: unknown, field: string): CrossAppAccess {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return refuse({ code: 'invalid', field, reason: 'must be an object' });
  }
  const server = given as Record<string, unknown>;
  const unknown = Object.keys(server).find((name) => !names.includes(name));
  if (unknown !== undefined) refuse({ code: 'invalid', field, reason: `must contain only ${names.join(', ')}` });
  return {
    audience: checkedIssuer(server['audience'], `${field}.audience`),
    clientId: checkedText(server['clientId'], `${field}.clientId`),
    scopes: checkedList(server['scopes'], `${field}.scopes`, isScope),
    resources: checkedList(server['resources'], `${field}.resources`, isResource),
  };
}

/** RFC 8414 section 2. This server never calls it. */
function checkedIssuer(given: unknown, field: string): string {
  const text = checkedText(given, field);
  if (checkRedirectUri(text) === null && !/[?#]/.test(text)) return text;
  return refuse({ code: 'invalid', field, reason: 'must be an https issuer without query and fragment' });
}

function checkedText(given: unknown, field: string): string {
  if (typeof given === 'string' && given.length <= maxText && /^[\x21-\x7e]+$/.test(given)) return given;
  return refuse({
    code: 'invalid',
    field,
    reason: `must have 1 to ${maxText} printable ASCII characters without spaces`,
  });
}

function checkedList(given: unknown, field: string, isEntry: (one: string) => boolean): string[] {
  if (given == null) return [];
  const isOne = (one: unknown) => typeof one === 'string' && one.length <= maxText && isEntry(one);
  if (Array.isArray(given) && given.length <= maxEntries && given.every(isOne)) return [...new Set<string>(given)];
  return refuse({
    code: 'invalid',
    field,
    reason: `must be a list of at most ${maxEntries} scopes, or of absolute URIs without a fragment`,
  });
}

/** RFC 6749 section 3.3. */
const isScope = (text: string) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(text);

/** RFC 8707 section 2. */
const isResource = (text: string) => /^[\x21-\x7e]+$/.test(text) && URL.canParse(text) && !text.includes('#');
