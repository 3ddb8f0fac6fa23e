import { domainToASCII } from 'node:url';
import { disposableEmailBlocklistSet } from 'disposable-email-domains-js';
import { isAtOrBelow, isListed, mailDomain } from '../projects/mail-domains.ts';
import type { ProjectSettings } from '../projects/project.resource.ts';
import { addressKey } from './login.ts';

/**
 * The outcome for a verified address without an account. `open`: a user. `approval`: a user, if an admin approves.
 * `closed`: nothing, as only admins and directories create users. `domain`: nothing, as its domain may not sign up.
 */
export type SignUpVerdict = 'open' | 'approval' | 'closed' | 'domain';

interface SignUpSettings {
  signUp: ProjectSettings['signUp'];
  signUpDomains: readonly string[];
  blockedSignUpDomains: readonly string[];
  blocksDisposableMail: boolean;
}

/** Decides by the settings of the project. Pure. */
export function signUpVerdict(project: SignUpSettings, address: string): SignUpVerdict {
  const { signUp, signUpDomains, blockedSignUpDomains, blocksDisposableMail } = project;
  if (signUp === 'provisioned_only') return 'closed';
  const key = addressKey(address);
  const domain = mailDomain(key.slice(key.lastIndexOf('@') + 1));
  if (signUp === 'domains' && (domain === null || !isListed(domain, signUpDomains))) return 'domain';
  if (domain !== null && isAtOrBelow(domain, (one) => blockedSignUpDomains.includes(one))) return 'domain';
  if (domain !== null && blocksDisposableMail && isDisposable(domain)) return 'domain';
  return signUp === 'approval' ? 'approval' : 'open';
}

/** Loaded at first use. */
let disposable: Set<string> | undefined;

/** Whether the domain, or one above it, belongs to a service of throwaway mailboxes. */
export function isDisposable(domain: string): boolean {
  disposable ??= disposableEmailBlocklistSet();
  const listed = disposable;
  return isAtOrBelow(domainToASCII(domain), (one) => listed.has(one));
}
