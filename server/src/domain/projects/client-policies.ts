import { isLine } from '../kernel/name.ts';
import { refuse } from '../kernel/problem.ts';
import { checkNumber } from '../kernel/resource.ts';
import { mailDomain } from './mail-domains.ts';

/** What clients of a domain that introduced themselves get at most. Absent: no limit. */
export interface ClientPolicy {
  /** Also for those below it. `*`: for every client, also those on devices of users. */
  domain: string;
  scopes?: string[];
  /** Identifiers. */
  apis?: string[];
  accessTokenTtlSeconds?: number;
  refreshTokenTtlSeconds?: number;
  consentText?: string;
}

const maxPolicies = 200;
const maxEntries = 100;
const maxEntry = 500;
const maxText = 300;
const day = 24 * 3600;
const names = ['domain', 'scopes', 'apis', 'accessTokenTtlSeconds', 'refreshTokenTtlSeconds', 'consentText'];

/** The policies as stored, by domain. Refuses `invalid`. */
export function checkedClientPolicies(given: unknown, field: string): ClientPolicy[] {
  if (!Array.isArray(given) || given.length > maxPolicies) {
    return refuse({ code: 'invalid', field, reason: `must be a list of at most ${maxPolicies} policies` });
  }
  const policies = given.map((policy: unknown, at) => checkedPolicy(policy, `${field}[${at}]`));
  const twice = policies.findIndex(({ domain }, at) => policies.findIndex((one) => one.domain === domain) !== at);
  if (twice >= 0) refuse({ code: 'invalid', field: `${field}[${twice}].domain`, reason: 'is in the list twice' });
  return policies.sort((a, b) => (a.domain < b.domain ? -1 : 1));
}

function checkedPolicy(given: unknown, field: string): ClientPolicy {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    return refuse({ code: 'invalid', field, reason: 'must be an object with domain' });
  }
  // Null is absent, as in other inputs of the admin API.
  const policy = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
  const unknown = Object.keys(policy).find((name) => !names.includes(name));
  if (unknown !== undefined) refuse({ code: 'invalid', field, reason: `must contain only ${names.join(', ')}` });
  const { domain, scopes, apis, accessTokenTtlSeconds, refreshTokenTtlSeconds, consentText } = policy;
  return {
    domain: checkedDomain(domain, `${field}.domain`),
    ...(scopes === undefined ? {} : { scopes: checkedList(scopes, `${field}.scopes`) }),
    ...(apis === undefined ? {} : { apis: checkedList(apis, `${field}.apis`) }),
    ...seconds({ accessTokenTtlSeconds }, field, [1, 3600]),
    ...seconds({ refreshTokenTtlSeconds }, field, [60, 365 * day]),
    ...(consentText === undefined ? {} : { consentText: checkedText(consentText, `${field}.consentText`) }),
  };
}

function checkedDomain(given: unknown, field: string): string {
  if (given === '*') return given;
  const domain = typeof given === 'string' ? mailDomain(given) : null;
  return domain ?? refuse({ code: 'invalid', field, reason: 'must be a domain such as example.com, or * for all' });
}

/** Scopes and identifiers of APIs, which need not exist yet. */
function checkedList(given: unknown, field: string): string[] {
  const isEntry = (one: unknown) =>
    typeof one === 'string' && one.length <= maxEntry && /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(one);
  if (!Array.isArray(given) || given.length > maxEntries || !given.every(isEntry)) {
    const reason = `must be a list of at most ${maxEntries} texts in ASCII without spaces`;
    return refuse({ code: 'invalid', field, reason });
  }
  return [...new Set<string>(given)];
}

function seconds(given: Record<string, unknown>, of: string, bounds: readonly [number, number]): object {
  const [[name, value] = ['', undefined]] = Object.entries(given);
  if (value === undefined) return {};
  checkNumber(`${of}.${name}`, value as number, bounds, 'seconds');
  return { [name]: value };
}

function checkedText(given: unknown, field: string): string {
  const text = typeof given === 'string' ? given.trim() : '';
  if (text === '' || text.length > maxText || !isLine(text)) {
    return refuse({ code: 'invalid', field, reason: `must be one line of 1 to ${maxText} characters` });
  }
  return text;
}
